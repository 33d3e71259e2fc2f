// SPDX-License-Identifier: Apache-2.0
#include "server/session_answer.h"

#include <nlohmann/json.hpp>

#include "api/v1alpha1/gpu_job.h"
#include "server/access.h"

namespace gpupool::web {
namespace {

using nlohmann::json;

constexpr api::ResourceType kWhoAmI{"authentication.k8s.io", "v1", "selfsubjectreviews", "SelfSubjectReview",
                                    false};

// Who the visitor is, or null.
json user_of(kube::Client& client, const std::stop_token& stop) {
  const auto answer = client.create(
      kWhoAmI, "", R"({"apiVersion":"authentication.k8s.io/v1","kind":"SelfSubjectReview"})", stop);
  if (!answer) return nullptr;
  const json review = json::parse(*answer, nullptr, false);
  const json::json_pointer name("/status/userInfo/username");
  return review.is_object() && review.contains(name) ? review[name] : json(nullptr);
}

}  // namespace

base::Result<std::string> session_json(kube::Client& client, const SessionFacts& facts,
                                       const std::stop_token& stop) {
  const auto& jobs = api::GpuJob::kType;
  const auto all = may(
      client, {.verb = "list", .group = std::string(jobs.group), .resource = std::string(jobs.plural)}, stop);
  if (!all) return tl::unexpected<base::Error>(all.error());
  const json session = {{"mode", facts.mode},    {"user", user_of(client, stop)}, {"allNamespaces", *all},
                        {"namespace", facts.ns}, {"version", facts.version},      {"ledger", facts.ledger}};
  return session.dump(-1, ' ', false, json::error_handler_t::replace);
}

}  // namespace gpupool::web
