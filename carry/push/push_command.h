// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <stop_token>
#include <string>
#include <vector>

#include "api/v1alpha1/job_data.h"
#include "base/clock.h"
#include "failure/failure.h"
#include "push/place_names.h"

namespace gpupool::carry {

struct PushOptions {
  std::vector<api::JobResult> results;
  PlaceNames names;
  std::int64_t grace_seconds = 30;  // from a stop signal to the end of the pod
  std::size_t report_bytes = 3072;
  bool hold = false;  // the pod restarts its containers: repeat the report
  std::string termination_log;
  std::string work;      // the directory that api::kWorkDirectory stands for
  std::string launcher;  // the directory of gpupool-launch, which the pod keeps; also for our state
  std::string claims;    // one directory for each claim
  std::string secrets;   // one directory for each Secret
};

// Puts the results of a worker away (docs/data.md#results): waits for the end of its command, or for a stop
// signal, and leaves a report. Returns the exit code, 0 also if results are incomplete: the report says so,
// and another code would make the pod fail.
int push_results(const PushOptions& options, base::Clock& clock, std::stop_token stop);

}  // namespace gpupool::carry
