// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>

#include "base/clock.h"

namespace gpupool::logs {

// Where to go on in the log of one container, and which of its lines were seen. A log can only be asked for
// from a whole second on, so lines of the last seconds come again and are recognised by time and hash. Not
// thread-safe. Pure.
class ResumePoint {
 public:
  enum class Verdict {
    kNew,
    kSeen,
    kNewAfterGap,  // new, and lines before it may be missing: the kubelet has rotated the log
  };

  // The time to ask for; nothing before the first line. One second before that of the last line, because the
  // lines of stdout and stderr may be stored in another order than that of their times.
  std::optional<base::WallTime> since() const;

  // The log is read again, from since() on.
  void begin_again();

  // Judges the next line of the log, and remembers it.
  Verdict take(base::WallTime time, std::uint64_t id);

 private:
  struct Seen {
    base::WallTime time;
    std::uint64_t id;
  };

  bool was_seen(const Seen& line);
  void remember(const Seen& line);

  std::deque<Seen> seen_;   // the lines since since(), at most kMaxRemembered
  base::WallTime newest_;   // time of the newest line
  std::size_t known_ = 0;   // the first so many of seen_ are from before begin_again()
  std::size_t cursor_ = 0;  // the first so many of seen_ have come again
  bool met_ = true;         // a line that was seen has come again, or there was none
};

}  // namespace gpupool::logs
