// SPDX-License-Identifier: Apache-2.0
#include "worker_logs/resume_point.h"

#include <algorithm>
#include <utility>

namespace gpupool::logs {
namespace {

constexpr std::size_t kMaxRemembered = 65'536;  // 1 MiB

base::WallTime first_kept(base::WallTime newest) {
  return std::chrono::floor<std::chrono::seconds>(newest) - std::chrono::seconds(1);
}

}  // namespace

std::optional<base::WallTime> ResumePoint::since() const {
  if (seen_.empty()) return std::nullopt;
  return first_kept(newest_);
}

void ResumePoint::begin_again() {
  known_ = seen_.size();
  cursor_ = 0;
  met_ = seen_.empty();
}

ResumePoint::Verdict ResumePoint::take(base::WallTime time, std::uint64_t id) {
  const Seen line{time, id};
  if (was_seen(line)) {
    met_ = true;
    return Verdict::kSeen;
  }
  remember(line);
  return std::exchange(met_, true) ? Verdict::kNew : Verdict::kNewAfterGap;
}

bool ResumePoint::was_seen(const Seen& line) {
  if (known_ == 0 || line.time > newest_) return false;
  // Older than everything that is remembered: the rest of a line that began before since(), or a line of a
  // second with more than kMaxRemembered lines.
  if (line.time < seen_.front().time) return true;
  const auto begin = seen_.begin() + static_cast<std::ptrdiff_t>(cursor_);
  const auto end = seen_.begin() + static_cast<std::ptrdiff_t>(known_);
  const auto found = std::find_if(
      begin, end, [&](const Seen& seen) { return seen.time == line.time && seen.id == line.id; });
  if (found == end) return false;
  cursor_ = static_cast<std::size_t>(found - seen_.begin()) + 1;
  return true;
}

void ResumePoint::remember(const Seen& line) {
  newest_ = seen_.empty() ? line.time : std::max(newest_, line.time);
  seen_.push_back(line);
  while (seen_.front().time < first_kept(newest_) || seen_.size() > kMaxRemembered) {
    seen_.pop_front();
    known_ -= std::min<std::size_t>(known_, 1);
    cursor_ -= std::min<std::size_t>(cursor_, 1);
  }
}

}  // namespace gpupool::logs
