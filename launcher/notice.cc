// SPDX-License-Identifier: Apache-2.0
#include "launcher/notice.h"

#include <algorithm>
#include <ctime>

#include "launcher/file_io.h"
#include "launcher/log.h"
#include "launcher/timestamp.h"

namespace gpupool::launcher {

std::chrono::seconds signal_delay(NoticeMode mode, std::chrono::seconds grace) {
  constexpr std::chrono::seconds kLeast{10};
  if (mode == NoticeMode::kSignal) return std::chrono::seconds(0);
  return std::max(grace - std::max(kLeast, grace / 10), std::chrono::seconds(0));
}

bool Notice::take(int signal) {
  held_ = 0;
  if (given_) return true;
  given_ = true;
  const std::chrono::seconds delay = signal_delay(mode_, grace_);
  due_ = Clock::now() + delay;
  if (!write_file() || delay == std::chrono::seconds(0)) return true;
  held_ = signal;
  return false;
}

std::optional<Clock::time_point> Notice::due() const {
  return held_ == 0 ? std::nullopt : std::optional(due_);
}

std::optional<int> Notice::take_due() {
  if (held_ == 0 || Clock::now() < due_) return std::nullopt;
  return std::exchange(held_, 0);
}

bool Notice::write_file() const {
  const std::time_t deadline = std::time(nullptr) + grace_.count();
  const Expected<void> written =
      replace_file(file_, R"({"deadline":")" + rfc3339(deadline) + "\"}\n", Durable::kNo);
  if (!written) log_line("the command is not told that it will be stopped: " + written.error());
  return written.has_value();
}

}  // namespace gpupool::launcher
