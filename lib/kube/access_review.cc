// SPDX-License-Identifier: Apache-2.0
#include "kube/access_review.h"

#include <nlohmann/json.hpp>
#include <utility>

namespace gpupool::kube {
namespace {

using nlohmann::json;

constexpr api::ResourceType kReview{"authorization.k8s.io", "v1", "selfsubjectaccessreviews",
                                    "SelfSubjectAccessReview", false};

}  // namespace

base::Result<bool> may(Client& client, const AccessQuestion& question, const std::stop_token& stop) {
  json attributes = {{"verb", question.verb}, {"group", question.group}, {"resource", question.resource}};
  if (!question.subresource.empty()) attributes["subresource"] = question.subresource;
  if (!question.ns.empty()) attributes["namespace"] = question.ns;
  if (!question.name.empty()) attributes["name"] = question.name;
  const json body = {{"apiVersion", "authorization.k8s.io/v1"},
                     {"kind", "SelfSubjectAccessReview"},
                     {"spec", {{"resourceAttributes", std::move(attributes)}}}};
  const auto answer =
      client.create(kReview, "", body.dump(-1, ' ', false, json::error_handler_t::replace), stop);
  if (!answer) return tl::unexpected<base::Error>(answer.error());
  const json review = json::parse(*answer, nullptr, false);
  if (!review.is_object() || !review.contains("status") || !review["status"].is_object())
    return base::fail(base::ErrorCode::kParse, "the answer is no SelfSubjectAccessReview");
  return review["status"].value("allowed", false);
}

}  // namespace gpupool::kube
