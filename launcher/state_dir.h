#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

#include "launcher/expected.h"
#include "launcher/unique_fd.h"

namespace gpupool::launcher {

// What makes "exactly once" true over container restarts: a mark made before the command starts, and its
// result. Both outlive a power loss, for one sync each: of the directory, which makes both names last, and of
// the result. The directory is per pod, so it never holds another attempt's files. Not thread safe.
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
  // created it runs the command. The command may start only after this has returned.
  Expected<void> mark();

  // Stores the result. Needs reserve() first. Cut off by a crash it is not whole, since it ends with its last
  // brace.
  Expected<void> store(std::string_view json);

 private:
  [[nodiscard]] std::string file(std::string_view name) const;
  Expected<void> sync_names();

  std::string path_;
  UniqueFd result_;
  bool names_synced_ = false;
};

}  // namespace gpupool::launcher
