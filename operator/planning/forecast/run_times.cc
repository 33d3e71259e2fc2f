// SPDX-License-Identifier: Apache-2.0
#include "planning/forecast/run_times.h"

#include <algorithm>
#include <chrono>
#include <functional>

namespace gpupool::planning {

using std::chrono::duration_cast;
using std::chrono::seconds;

RunTimes::Kind RunTimes::kind_of(const api::GpuJob& job) {
  return std::hash<std::string>()(job.metadata.ns + "/" + api::spec_hash(job.spec));
}

void RunTimes::add(const api::GpuJob& job) {
  const auto& status = job.status;
  if (!status.start_time || !status.completion_time || *status.completion_time < *status.start_time) return;
  const Run run{kind_of(job), duration_cast<seconds>(*status.completion_time - *status.start_time).count()};
  if (runs_.size() < kMost) {
    runs_.push_back(run);
  } else {
    runs_[oldest_] = run;
    oldest_ = (oldest_ + 1) % kMost;
  }
}

RunTimes::ByKind RunTimes::by_kind() const {
  ByKind all;
  for (const auto& run : runs_) all[run.kind].push_back(seconds(run.seconds));
  for (auto& [kind, durations] : all) std::ranges::sort(durations);
  return all;
}

}  // namespace gpupool::planning
