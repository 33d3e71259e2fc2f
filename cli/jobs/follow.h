// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <stop_token>
#include <string>

#include "api/v1alpha1/gpu_job.h"
#include "base/result.h"
#include "command/keep_trying.h"
#include "command/session.h"

namespace gpupool::jobs {

// Called with each state of the job that arrives; false ends following.
using OnState = std::function<bool(const api::GpuJob&)>;

// Follows one job by a watch, over lost connections and restarts of the API server, until on_state returns
// false (success), the job is gone or replaced by another one of its name (kNotFound), the server refuses
// (403, 401, ...), or stop is requested (kCancelled). uid: of the job; empty: that of the first state.
base::Result<void> follow_job(command::Session& session, const api::ObjectKey& key, std::string uid,
                              const OnState& on_state, const command::OnAway& on_away,
                              const std::stop_token& stop);

}  // namespace gpupool::jobs
