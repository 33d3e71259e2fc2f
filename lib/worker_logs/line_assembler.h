// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "worker_logs/log_line.h"

namespace gpupool::logs {

// Makes lines of the bytes of a container's log that was asked for with timestamps: each line begins with its
// time and a space. Memory is bounded whatever is printed. Not thread-safe.
//
// - Container runtimes store a long line in pieces (containerd of 16 KiB, CRI-O of at least 8 KiB), and
//   kubelets before 1.21 put a time before each piece, not only before the line. Such a time is removed: one
//   that begins after a multiple of 8 KiB and is not before the line's own.
// - A line is cut after kMaxBytes.
// - Of a line that carriage returns overwrote (a progress bar) the last state is kept.
// - A line without a time comes from the kubelet, which reports errors within the log.
class LineAssembler {
 public:
  static constexpr std::size_t kMaxBytes = std::size_t{64} << 10;
  static constexpr std::size_t kPieceStep = std::size_t{8} << 10;

  struct Receiver {
    std::function<bool(LogLine)> on_line;                // false: ends feed()
    std::function<void(std::string_view text)> on_note;  // from the kubelet; at most 1 KiB
  };

  // keep_returns: do not treat carriage returns, keep the line as it is.
  LineAssembler(Receiver receiver, bool keep_returns);

  // Returns false if on_line did; the rest of `bytes` is dropped then.
  bool feed(std::string_view bytes);

  // The log has ended. unfinished_counts: a last line without '\n' is complete, because its container has
  // ended; else it is dropped, because its rest may be missing. Ready for another log after that.
  void finish(bool unfinished_counts);

 private:
  enum class State { kStamp, kText, kMaybeStamp, kNote };

  std::string_view take_stamp(std::string_view bytes);
  std::string_view take_text(std::string_view bytes);
  std::string_view take_maybe_stamp(std::string_view bytes);
  std::string_view take_note(std::string_view bytes);
  void begin_line(base::WallTime time);
  void add_text(std::string_view bytes);
  void end_line();
  void end_note();

  Receiver receiver_;
  bool keep_returns_;
  State state_ = State::kStamp;
  std::string word_;  // a time that is not complete yet, or a note
  LogLine line_;
  base::WallTime last_time_;     // of the last piece of the line
  std::size_t since_stamp_ = 0;  // bytes of the line since the last time
  bool after_return_ = false;
  bool more_ = true;
};

}  // namespace gpupool::logs
