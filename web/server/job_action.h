// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <stop_token>
#include <string>
#include <string_view>

#include "api/meta/resource_type.h"
#include "base/result.h"
#include "kube/client.h"

namespace gpupool::web {

// What a visitor asks to be done to a job.
struct JobAction {
  enum class Verb { kSuspend, kResume, kCancel };
  Verb verb;
  api::ObjectKey job;
};

// Of a path "/api/jobs/NAMESPACE/NAME/VERB"; nullopt if it is none.
std::optional<JobAction> read_action(std::string_view path);

// Does it, as the visitor, to the job with the UID in body {"uid":UID} alone: another job of that name is
// left alone (kConflict).
base::Result<void> carry_out(kube::Client& client, const JobAction& action, std::string_view body,
                             const std::stop_token& stop);

}  // namespace gpupool::web
