// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "api/worker_result_format.h"

namespace gpupool::planning {

// What gpupool-launch leaves in a worker's termination message: api/worker_result_format.h. Data of a
// tenant's program: any text and number may be in it.
struct WorkerResult {
  std::int64_t version = 0;
  std::int64_t attempt = 0;
  std::int64_t rank = 0;
  std::string outcome;  // api::worker_result::kExited and so on
  std::int64_t exit_code = 0;
  std::int64_t signal = 0;
  std::int64_t stop_signal = 0;  // signal that told the launcher to stop before the command ended; 0: none
  std::string reason;
  std::string message;
  std::string tail;  // the last output of the command
  std::string finished_at;
  std::vector<std::string> metrics;  // in the form of kMetricsField
  std::vector<std::string> other_metrics;
  std::optional<std::string> report;  // what the command wrote into its report file; see checkpoint_report.h
  std::string reported_at;            // when it did
  std::string report_error;           // why the launcher could not read it

  bool interrupted() const { return outcome == api::worker_result::kInterrupted; }
  bool succeeded() const { return outcome == api::worker_result::kExited && exit_code == 0; }
};

// Returns nothing if the message is not a result of the launcher. A kubelet cuts the message if the pod got
// more containers than were known when it was created; then the complete fields are returned, if they tell
// how the command ended.
std::optional<WorkerResult> parse_worker_result(const std::string& termination_message);

}  // namespace gpupool::planning
