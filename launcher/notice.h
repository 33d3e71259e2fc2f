// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <optional>
#include <string>

#include "launcher/deadline.h"

namespace gpupool::launcher {

// When the stop signal follows the notice.
enum class NoticeMode {
  kSignal,  // at once
  kFile,    // near the end of the grace period: the command acts on the file
};

// How long after the notice the stop signal follows. With kFile a tenth of the grace period is left then, at
// least 10 s; a shorter grace period leaves no time to wait. Pure.
std::chrono::seconds signal_delay(NoticeMode mode, std::chrono::seconds grace);

// Tells a command that it will be stopped, and until when it may save its work: the file
// {"deadline":"2026-01-02T03:04:05Z"} appears, whole. Not thread-safe.
class Notice {
 public:
  // file: in a directory that the command may write, so it may hold anything.
  Notice(std::string file, NoticeMode mode, std::chrono::seconds grace)
      : file_(std::move(file)), mode_(mode), grace_(grace) {}

  // For each stop signal from outside the pod. The first writes the file. True: forward the signal now;
  // false: it is held until due(). A second signal, or a file that cannot be written (this is logged), ends
  // the wait.
  bool take(int signal);

  [[nodiscard]] bool given() const { return given_; }

  // When the held signal is to be forwarded; nothing if none is held.
  [[nodiscard]] std::optional<Clock::time_point> due() const;

  // The held signal, once, when it is due.
  std::optional<int> take_due();

 private:
  bool write_file() const;

  std::string file_;
  NoticeMode mode_;
  std::chrono::seconds grace_;
  bool given_ = false;
  int held_ = 0;
  Clock::time_point due_{};
};

}  // namespace gpupool::launcher
