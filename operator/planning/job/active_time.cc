// SPDX-License-Identifier: Apache-2.0
#include "planning/job/active_time.h"

#include <algorithm>
#include <chrono>

namespace gpupool::planning {

std::int64_t active_seconds(const api::GpuJobStatus& status) {
  return status.progress ? status.progress->active_seconds : 0;
}

void start_clock(api::GpuJobStatus& status, base::WallTime now) {
  if (!status.start_time) status.start_time = now - std::chrono::seconds(active_seconds(status));
}

void stop_clock(api::GpuJobStatus& status, base::WallTime now) {
  if (!status.start_time) return;
  const auto held = std::chrono::duration_cast<std::chrono::seconds>(now - *status.start_time).count();
  status.start_time.reset();
  // Less than before only if the clock of this machine was set back.
  const auto seconds = std::max<std::int64_t>(held, active_seconds(status));
  if (seconds == 0) return;
  if (!status.progress) status.progress.emplace();
  status.progress->active_seconds = seconds;
}

void reset_clock(api::GpuJobStatus& status) {
  status.start_time.reset();
  if (status.progress) status.progress->active_seconds = 0;
}

}  // namespace gpupool::planning
