// SPDX-License-Identifier: Apache-2.0
#include "worker_logs/next_step.h"

#include <algorithm>

namespace gpupool::logs {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr milliseconds kFirstPause{100};
constexpr milliseconds kLongestPause = seconds(2);
// After a lost connection: when the server is back, the operator soon deletes the pods of a gang that crashed
// meanwhile, and their logs go with them.
constexpr milliseconds kLongestPauseOfLost{500};
// Kubelets before 1.29 go on reading the old file after the log was rotated, so a silent log is opened again:
// soon at first, because a program that has just printed mostly goes on.
constexpr milliseconds kFirstSilence = seconds(2);
constexpr milliseconds kLongestSilence = seconds(30);
constexpr milliseconds kSilenceOfAll = seconds(60);  // of a log that is not followed
constexpr int kTries = 5;                            // without follow

milliseconds doubled(milliseconds first, int times, milliseconds longest) {
  return std::min(longest, first * (1 << std::clamp(times, 0, 10)));
}

bool has_failed(StreamEnd end) { return end == StreamEnd::kCut || end == StreamEnd::kWaiting; }

milliseconds pause_before(const ReaderMemory& memory) {
  if (!memory.not_found) {
    if (memory.last == StreamEnd::kNone || memory.last == StreamEnd::kSilent) return {};
    if (memory.brought_new && !has_failed(memory.last)) return {};
  }
  return doubled(kFirstPause, memory.fruitless - 1,
                 memory.last == StreamEnd::kCut ? kLongestPauseOfLost : kLongestPause);
}

Open open_running(const ReaderMemory& memory, bool follow) {
  return {.follow = follow,
          .after = pause_before(memory),
          .silence = follow ? doubled(kFirstSilence, memory.fruitless, kLongestSilence) : kSilenceOfAll};
}

std::string not_complete(const ReaderMemory& memory) {
  return "its last lines may be missing" + (memory.problem.empty() ? "" : ": " + memory.problem);
}

std::string dropped(const ReaderMemory& memory) {
  return "its node has dropped its log" + (memory.problem.empty() ? "" : ": " + memory.problem);
}

// Nothing is missing of a log that cannot be read any more.
bool was_read(const ReaderMemory& memory) {
  return memory.read_after_end || (memory.ended && !memory.broken);
}

Step after_end(const WorkerFacts& facts, const ReaderMemory& memory, bool follow) {
  const bool previous = facts.state.output == Output::kPrevious || memory.repeats;
  const bool same = memory.after_end && memory.previous == previous && !memory.not_found;
  const bool ended = same && memory.last == StreamEnd::kEnded && (!memory.brought_new || !follow);
  const bool no_log = same && memory.last == StreamEnd::kNoLog;
  if (ended || no_log) {
    // The container may have been started again in this moment, and the log was that of the next one. Its
    // status will say so.
    const bool unsure = facts.state.restarts && (memory.broken || !facts.job_over);
    if (follow && !previous && unsure) return Wait{};
    return Done{ended || was_read(memory) ? "" : dropped(memory)};
  }
  return Open{.previous = previous, .after = pause_before(memory), .silence = kSilenceOfAll};
}

}  // namespace

Step next_step(const WorkerFacts& facts, const ReaderMemory& memory, bool follow) {
  if (facts.gone) {
    const bool complete = was_read(memory) || facts.state.output == Output::kNotBegun;
    return Done{complete ? "" : not_complete(memory)};
  }
  if (!follow && memory.fruitless >= kTries) return Done{not_complete(memory)};
  if (!facts.known) return facts.job_over || !follow ? Step(Done{}) : Step(Wait{});
  switch (facts.state.output) {
    case Output::kNotBegun:
      if (facts.state.pod_over || facts.job_over) return Done{};
      if (!follow) return Done{"it has not begun: " + facts.state.waits_for};
      return Wait{};
    case Output::kRunning:
      if (memory.repeats) return follow ? Step(Wait{}) : after_end(facts, memory, follow);
      if (!follow && memory.last == StreamEnd::kEnded) return Done{};
      return open_running(memory, follow);
    case Output::kEnded:
    case Output::kPrevious:
      return after_end(facts, memory, follow);
    case Output::kForgotten:
      break;
  }
  return Done{was_read(memory) ? "" : dropped(memory)};
}

StreamEnd end_of(const base::Error& error, bool previous) {
  switch (error.code) {
    case base::ErrorCode::kTimeout:
      return error.http_status == 0 ? StreamEnd::kSilent : StreamEnd::kCut;
    case base::ErrorCode::kBadRequest:
      return previous ? StreamEnd::kNoLog : StreamEnd::kWaiting;
    default:
      return StreamEnd::kCut;
  }
}

}  // namespace gpupool::logs
