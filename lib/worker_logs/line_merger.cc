// SPDX-License-Identifier: Apache-2.0
#include "worker_logs/line_merger.h"

#include <algorithm>
#include <queue>
#include <utility>

namespace gpupool::logs {
namespace {

// What a line costs besides its bytes, so that many empty lines are bounded too.
constexpr std::size_t kBytesOfLine = sizeof(LogLine) + 48;

std::size_t bytes_of(const LogLine& line) { return line.text.size() + kBytesOfLine; }

}  // namespace

std::size_t LineMerger::open() {
  logs_.emplace_back();
  return logs_.size() - 1;
}

void LineMerger::add(std::size_t log, LogLine line, base::SteadyTime arrived) {
  logs_[log].bytes += bytes_of(line);
  logs_[log].lines.push_back({std::move(line), arrived});
  ++waiting_;
}

void LineMerger::close(std::size_t log) { logs_[log].open = false; }

void LineMerger::take_due(base::SteadyTime now, const Receiver& receiver) {
  if (waiting_ == 0) return;
  std::size_t due = count_due(now);
  std::size_t unknown = count_unknown();  // logs whose next line may be earlier than all that wait
  if (due == 0 && unknown > 0) return;

  using First = std::pair<base::WallTime, std::size_t>;
  std::priority_queue<First, std::vector<First>, std::greater<>> firsts;
  for (std::size_t log = 0; log < logs_.size(); ++log) {
    if (!logs_[log].lines.empty()) firsts.emplace(logs_[log].lines.front().line.time, log);
  }
  while (!firsts.empty() && (due > 0 || unknown == 0)) {
    const std::size_t log = firsts.top().second;
    firsts.pop();
    Waiting first = take_first(log);
    if (first.arrived + window_ <= now) --due;
    if (!logs_[log].lines.empty()) {
      firsts.emplace(logs_[log].lines.front().line.time, log);
    } else if (logs_[log].open) {
      ++unknown;
    }
    receiver(log, std::move(first.line));
  }
}

std::optional<base::SteadyTime> LineMerger::next_due() const {
  std::optional<base::SteadyTime> first;
  if (waiting_ == 0) return first;
  for (const Log& log : logs_) {
    if (log.lines.empty()) continue;
    const base::SteadyTime due = log.lines.front().arrived + window_;
    if (!first || due < *first) first = due;
  }
  return first;
}

std::size_t LineMerger::count_due(base::SteadyTime now) const {
  std::size_t due = 0;
  for (const Log& log : logs_) {
    const auto end = std::partition_point(log.lines.begin(), log.lines.end(), [&](const Waiting& waiting) {
      return waiting.arrived + window_ <= now;
    });
    due += static_cast<std::size_t>(end - log.lines.begin());
  }
  return due;
}

std::size_t LineMerger::count_unknown() const {
  return static_cast<std::size_t>(
      std::ranges::count_if(logs_, [](const Log& log) { return log.open && log.lines.empty(); }));
}

LineMerger::Waiting LineMerger::take_first(std::size_t log) {
  Log& from = logs_[log];
  Waiting first = std::move(from.lines.front());
  from.lines.pop_front();
  from.bytes -= bytes_of(first.line);
  --waiting_;
  return first;
}

}  // namespace gpupool::logs
