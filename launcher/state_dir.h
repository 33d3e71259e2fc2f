// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

#include "base/unique_fd.h"
#include "launcher/expected.h"

namespace gpupool::launcher {

// Makes the command run exactly once, although a container may be started again: an empty file ("mark") is
// created before the command starts, and its result is stored after its end. Both survive a loss of power;
// that costs one sync of the directory and one of the result. The directory belongs to one pod, so it never
// holds files of another attempt.
//
// Order of calls: stored_result() and marked_at() first; then reserve(), mark(), the command, store(). Not
// thread-safe.
class StateDir {
 public:
  explicit StateDir(std::string path) : path_(std::move(path)) {}

  // The result of an earlier start, as stored; nothing when there is none that is whole.
  [[nodiscard]] std::optional<std::string> stored_result() const;

  // When the result was stored, by the wall clock; nothing when there is none.
  [[nodiscard]] std::optional<std::chrono::sys_time<std::chrono::nanoseconds>> stored_at() const;

  // When an earlier start was about to run the command (RFC 3339); nothing when none was.
  [[nodiscard]] std::optional<std::string> marked_at() const;

  // Takes the name and the disk space a result needs, so that a disk that the command fills does not cost its
  // result. Drops a result that is not whole.
  Expected<void> reserve();

  // Creates the mark: an empty file, which lasts as soon as its name does. Fails when there is one: whoever
  // created it runs the command. The command may start only after this has returned. The mark is locked
  // (flock) while this process lives, so that gpupool-carry sees a launcher that was killed.
  Expected<void> mark();

  // Stores the result. A result that a crash cut off is recognised: it does not end with its last brace.
  //
  // REQUIRES: reserve() has succeeded.
  Expected<void> store(std::string_view json);

  // Puts another result in place of the one that has been stored; at any moment one of the two is there.
  Expected<void> store_again(std::string_view json);

 private:
  [[nodiscard]] std::string file(std::string_view name) const;
  Expected<void> sync_names();

  std::string path_;
  base::UniqueFd mark_;
  base::UniqueFd result_;
  bool names_synced_ = false;
};

}  // namespace gpupool::launcher
