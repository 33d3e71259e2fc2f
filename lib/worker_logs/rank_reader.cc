// SPDX-License-Identifier: Apache-2.0
#include "worker_logs/rank_reader.h"

#include <algorithm>
#include <utility>

#include "worker_logs/line_assembler.h"

namespace gpupool::logs {
namespace {

// Of a log that brings lines more often than kOften, several are read at once: to wake a thread for each
// costs more than to read it. Less than LogFollower's window, so that the order does not suffer.
constexpr std::chrono::milliseconds kPause{80};
constexpr std::chrono::milliseconds kOften{100};
constexpr std::chrono::milliseconds kAtOnce{2};  // pieces so near to each other were there already

}  // namespace

void FactsBox::set(WorkerFacts facts) {
  const base::MutexLock lock(mutex_);
  facts_ = std::move(facts);
  ++number_;
  changed_.notify_all();
}

std::pair<WorkerFacts, std::uint64_t> FactsBox::get() const {
  const base::MutexLock lock(mutex_);
  return {facts_, number_};
}

void FactsBox::wait_change(std::uint64_t number, std::optional<base::Duration> most,
                           const std::stop_token& stop) {
  const auto deadline = most ? std::optional(clock_.now() + *most) : std::nullopt;
  base::MutexLock lock(mutex_);
  clock_.wait(lock.native(), changed_, stop, deadline,
              [this, number]() GPUPOOL_REQUIRES(mutex_) { return number_ != number; });
}

RankReader::RankReader(ReaderOptions options, const FetchLog& fetch, FactsBox& facts, LineSink& sink,
                       base::Clock& clock)
    : options_(std::move(options)), fetch_(fetch), facts_(facts), sink_(sink), clock_(clock) {}

base::Result<std::string> RankReader::run(const std::stop_token& stop) {
  bool woken = false;
  while (!stop.stop_requested() && !unwanted_) {
    const auto [facts, number] = facts_.get();
    const Step step = next_step(facts, memory_, options_.follow);
    if (const auto* done = std::get_if<Done>(&step)) return done->note;
    if (std::holds_alternative<Wait>(step)) {
      facts_.wait_change(number, std::nullopt, stop);
      continue;
    }
    const auto& open = std::get<Open>(step);
    if (open.after.count() > 0 && !woken) {
      facts_.wait_change(number, open.after, stop);
      woken = facts_.get().second != number;  // the server answers again: it must not wait once more
      if (woken) continue;
    }
    woken = false;
    if (auto read_it = read(open, facts, stop); !read_it) return tl::unexpected<base::Error>(read_it.error());
  }
  return std::string();
}

base::Result<void> RankReader::read(const Open& open, const WorkerFacts& facts, const std::stop_token& stop) {
  resume_.begin_again();
  new_lines_ = false;
  seen_again_ = false;
  std::string note;
  bool stopped = false;
  LineAssembler assembler({.on_line =
                               [&](LogLine line) {
                                 stopped = !take(std::move(line), open.previous);
                                 return !stopped;
                               },
                           .on_note = [&](std::string_view text) { note = text; }},
                          options_.raw);
  base::SteadyTime last_piece{};
  const auto on_piece = [&](std::string_view piece) {
    const bool more = assembler.feed(piece);
    const auto gap = clock_.now() - last_piece;
    if (more && open.follow && gap > kAtOnce && gap < kPause + kOften) clock_.sleep_for(kPause, stop);
    last_piece = clock_.now();
    return more;
  };
  const auto end = fetch_(options_.pod, log_options(open), on_piece, stop);
  const bool after_end = open.previous || facts.state.output == Output::kEnded;
  // What looks like a last line without an end may be cut off: a second read shows it.
  const bool confirms = !options_.follow || (memory_.after_end && memory_.last == StreamEnd::kEnded);
  if (!stopped) assembler.finish(end.has_value() && after_end && confirms);

  memory_.fruitless = new_lines_ ? 0 : memory_.fruitless + 1;
  memory_.not_found = !end && end.error().code == base::ErrorCode::kNotFound;
  if (memory_.not_found) return {};
  if (!end && (end.error().code == base::ErrorCode::kForbidden ||
               end.error().code == base::ErrorCode::kUnauthorized)) {
    return tl::unexpected<base::Error>(end.error());
  }
  memory_.after_end = after_end;
  memory_.previous = open.previous;
  memory_.brought_new = new_lines_;
  memory_.problem = end ? note : end.error().message;
  const bool any_line = seen_again_ || new_lines_;
  if (any_line) memory_.broken = memory_.ended = false;
  if (!end) {
    memory_.last = end_of(end.error(), open.previous);
    if (memory_.last != StreamEnd::kSilent) memory_.broken = true;
  } else if (stopped) {
    memory_.last = open.previous ? StreamEnd::kNoLog : StreamEnd::kStopped;
  } else {
    // What was seen comes again, as long as the log is there.
    const bool no_log = after_end && !any_line && (resume_.since() || !note.empty());
    memory_.last = no_log ? StreamEnd::kNoLog : StreamEnd::kEnded;
    // Of a container that may have been started again, only the previous one's log is surely the right one.
    const bool sure = open.previous || (after_end && !facts.state.restarts);
    memory_.read_after_end = memory_.read_after_end || (sure && !no_log);
  }
  if (memory_.last == StreamEnd::kEnded || memory_.last == StreamEnd::kSilent) memory_.ended = true;
  return {};
}

kube::LogOptions RankReader::log_options(const Open& open) const {
  kube::LogOptions asked{.container = options_.container,
                         .follow = open.follow,
                         .previous = open.previous,
                         .timestamps = true,
                         .since = options_.since,
                         .silence = open.silence};
  if (const auto seen = resume_.since()) {
    asked.since = asked.since ? std::max(*asked.since, *seen) : *seen;
  } else {
    asked.tail_lines = options_.tail_lines;
  }
  return asked;
}

// False: the rest of the stream is not wanted.
bool RankReader::take(LogLine line, bool previous) {
  if (is_repeated_result(line.text)) {
    memory_.repeats = memory_.repeats || !previous;
    return false;
  }
  const auto verdict = resume_.take(line.time, line.id);
  if (verdict == ResumePoint::Verdict::kSeen) return seen_again_ = true;
  new_lines_ = true;
  if (verdict == ResumePoint::Verdict::kNewAfterGap) sink_.on_gap();
  unwanted_ = !sink_.on_line(std::move(line));
  return !unwanted_;
}

}  // namespace gpupool::logs
