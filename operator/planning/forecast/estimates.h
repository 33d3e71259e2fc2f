// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>

#include "base/clock.h"
#include "planning/forecast/run_times.h"
#include "planning/forecast/snapshot.h"

namespace gpupool::planning {

// Which of the likely times: the 10th, 50th or 90th percentile; of fewer than ten jobs, the extremes.
enum class Guess { kEarly, kMedian, kLate };

// When jobs give their nodes back. The likely time is that of jobs of the same kind that have ended; else the
// deadline; else it is not known. Remembers what it was based on. Not thread-safe.
class Estimates {
 public:
  // history: outlives this.
  Estimates(const RunTimes::ByKind& history, base::WallTime now) : history_(history), now_(now) {}

  // How long a waiting job will likely hold its nodes.
  std::optional<base::Duration> likely_hold(const api::GpuJob& job, Guess guess);
  // When a holder will likely have given its nodes back; not before now.
  std::optional<base::WallTime> likely_end(const Holder& holder, Guess guess);

  // Number of jobs that have ended on which the answers so far were based.
  std::int64_t samples() const;
  bool used_deadlines() const { return used_deadlines_; }

 private:
  // after: only jobs that ran longer than this count.
  std::optional<base::Duration> of_history(const api::GpuJob& job, base::Duration after, Guess guess);

  const RunTimes::ByKind& history_;
  base::WallTime now_;
  std::map<RunTimes::Kind, std::size_t> used_;
  bool used_deadlines_ = false;
};

// How long a job holds its nodes at most, from when it gets them: until its deadline, and until its workers
// are gone. Nothing if it has no deadline. pool: its pool, which may shorten the grace period.
std::optional<base::Duration> longest_hold(const api::GpuJob& job, const api::GpuPool& pool);
// How long it takes at most from when its workers are told to stop.
base::Duration longest_ending(const api::GpuJob& job, const api::GpuPool& pool);
// When a holder has given its nodes back at the latest.
std::optional<base::WallTime> latest_end(const api::GpuJob& job, const api::GpuPool& pool,
                                         base::WallTime now);
std::optional<base::WallTime> latest_end(const Holder& holder, const api::GpuPool& pool, base::WallTime now);

}  // namespace gpupool::planning
