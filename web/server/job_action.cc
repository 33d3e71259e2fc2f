// SPDX-License-Identifier: Apache-2.0
#include "server/job_action.h"

#include <nlohmann/json.hpp>
#include <vector>

#include "api/v1alpha1/gpu_job.h"
#include "stream/topic.h"

namespace gpupool::web {
namespace {

using nlohmann::json;

std::vector<std::string> parts_of(std::string_view path) {
  std::vector<std::string> parts;
  while (true) {
    const std::size_t slash = path.find('/');
    parts.emplace_back(path.substr(0, slash));
    if (slash == std::string_view::npos) return parts;
    path.remove_prefix(slash + 1);
  }
}

}  // namespace

std::optional<JobAction> read_action(std::string_view path) {
  static constexpr std::string_view kBegin = "/api/jobs/";
  if (!path.starts_with(kBegin)) return std::nullopt;
  const auto parts = parts_of(path.substr(kBegin.size()));
  if (parts.size() != 3 || !is_name(parts[0]) || !is_name(parts[1])) return std::nullopt;
  const api::ObjectKey job{parts[0], parts[1]};
  if (parts[2] == "suspend") return JobAction{JobAction::Verb::kSuspend, job};
  if (parts[2] == "resume") return JobAction{JobAction::Verb::kResume, job};
  if (parts[2] == "cancel") return JobAction{JobAction::Verb::kCancel, job};
  return std::nullopt;
}

base::Result<void> carry_out(kube::Client& client, const JobAction& action, std::string_view body,
                             const std::stop_token& stop) {
  const json asked = json::parse(body, nullptr, false);
  if (!asked.is_object() || !asked.contains("uid") || !asked["uid"].is_string() ||
      !is_name(asked["uid"].get_ref<const std::string&>()))
    return base::fail(base::ErrorCode::kInvalidArgument, "the body is not {\"uid\":UID}");
  const auto uid = asked["uid"].get<std::string>();
  base::Result<std::string> done;
  if (action.verb == JobAction::Verb::kCancel) {
    done = client.remove(api::GpuJob::kType, action.job, {.uid = uid}, stop);
  } else {
    // The server refuses a patch that would change the UID.
    const json patch = {{"metadata", {{"uid", uid}}},
                        {"spec", {{"suspend", action.verb == JobAction::Verb::kSuspend}}}};
    done = client.patch(api::GpuJob::kType, action.job, kube::PatchType::kMerge, patch.dump(), "", stop);
  }
  if (!done) return tl::unexpected<base::Error>(done.error());
  return {};
}

}  // namespace gpupool::web
