// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "api/v1alpha1/gpu_job.h"
#include "api/v1alpha1/gpu_sweep.h"
#include "base/result.h"
#include "command/session.h"

namespace gpupool::sweeps {

struct ReadSweep {
  api::GpuSweep sweep;
  std::vector<api::GpuJob> jobs;
  bool may_list_jobs = true;
};

// word: "sets", "gsweep/sets" or "gpusweep.gpupool.dev/sets", in the session's namespace. Two requests.
base::Result<ReadSweep> read_sweep(command::Session& session, std::string_view word,
                                   const std::stop_token& stop);

// The name in such a word. kInvalidArgument for another kind, or for what no sweep can be called.
base::Result<std::string> sweep_name(std::string_view word);

}  // namespace gpupool::sweeps
