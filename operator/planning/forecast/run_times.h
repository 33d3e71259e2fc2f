// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <unordered_map>
#include <vector>

#include "api/v1alpha1/gpu_job.h"
#include "base/clock.h"

namespace gpupool::planning {

// How long the last 10,000 jobs that ended have run, by kind: jobs of one namespace with the same pool, size
// and template are of one kind. In memory only, at most 160 KB; after a restart it is filled from the ended
// jobs that still exist. Not thread-safe.
class RunTimes {
 public:
  static constexpr std::size_t kMost = 10'000;
  using Kind = std::uint64_t;
  // In rising order.
  using Durations = std::vector<base::Duration>;
  using ByKind = std::unordered_map<Kind, Durations>;
  // Asks for those of now. Thread-safe.
  using Source = std::function<ByKind()>;

  static Kind kind_of(const api::GpuJob& job);

  // Adds a job that has ended; ignores one that never ran.
  void add(const api::GpuJob& job);
  ByKind by_kind() const;

 private:
  struct Run {
    Kind kind;
    std::int64_t seconds;
  };
  std::vector<Run> runs_;
  std::size_t oldest_ = 0;  // the next to be replaced, once there are kMost
};

}  // namespace gpupool::planning
