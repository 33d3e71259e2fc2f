// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <optional>
#include <stop_token>
#include <string>

#include "base/clock.h"

namespace gpupool::carry {

// How the command of the worker ended, as the launcher has stored it.
struct WorkerEnd {
  bool succeeded = false;
  std::optional<base::WallTime> at = std::nullopt;
};

// Sees from the launcher's directory whether the command runs. Not thread-safe.
class WorkerWatch {
 public:
  explicit WorkerWatch(std::string launcher_directory) : directory_(std::move(launcher_directory)) {}

  // Nothing while the command runs or has not begun. A launcher that was killed, and left no result within
  // kResultFollows, has ended without success.
  std::optional<WorkerEnd> look(base::SteadyTime now);
  // True if the command has begun.
  bool begun() const;

 private:
  static constexpr base::Duration kResultFollows = std::chrono::seconds(10);
  std::optional<WorkerEnd> stored_end() const;
  bool launcher_lives() const;

  const std::string directory_;
  std::optional<base::SteadyTime> dead_since_ = std::nullopt;
};

}  // namespace gpupool::carry
