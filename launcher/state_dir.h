#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "launcher/expected.h"
#include "launcher/unique_fd.h"

namespace gpupool::launcher {

// What makes "exactly once" true over container restarts: a mark written before the command starts, and its
// result. Both outlive a power loss. The directory is per pod, so it never holds another attempt's files. Not
// thread safe.
class StateDir {
 public:
  explicit StateDir(std::string path) : path_(std::move(path)) {}

  // The result of an earlier start, as stored; nothing when there is none that can be read.
  [[nodiscard]] std::optional<std::string> stored_result() const;

  // When an earlier start was about to run the command (RFC 3339; empty when unreadable); nothing when none
  // was.
  [[nodiscard]] std::optional<std::string> marked_at() const;

  // Takes the disk space a result needs, so that a disk that the command fills does not cost its result.
  Expected<void> reserve();

  // Creates the mark. Fails when there is one: whoever created it runs the command.
  Expected<void> mark(std::string_view started_at);

  // Stores the result in one step. Needs reserve() first.
  Expected<void> store(std::string_view json);

 private:
  [[nodiscard]] std::string file(std::string_view name) const;

  std::string path_;
  UniqueFd reserved_;
};

}  // namespace gpupool::launcher
