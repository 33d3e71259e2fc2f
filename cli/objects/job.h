// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <stop_token>
#include <string>
#include <string_view>

#include "api/v1alpha1/gpu_job.h"
#include "base/result.h"
#include "command/session.h"

namespace gpupool::objects {

// The name in "resnet", "gjob/resnet" or "gpujob.gpupool.dev/resnet", as list -o name prints it.
// kInvalidArgument for another kind, or for what no object can be called.
base::Result<std::string> job_name(std::string_view word);

// A job, and its JSON as the server sent it.
struct ReadJob {
  api::GpuJob job;
  std::string text;
};

// word: as for job_name; in the session's namespace.
base::Result<ReadJob> read_job(command::Session& session, std::string_view word, const std::stop_token& stop);

// "Running on 4 nodes", "Queued": what a person is asked about before something is done to the job.
std::string short_state(const api::GpuJob& job);

}  // namespace gpupool::objects
