// SPDX-License-Identifier: Apache-2.0
#include "worker_logs/log_follower.h"

#include <algorithm>
#include <utility>

#include "api/v1alpha1/last_lines.h"

namespace gpupool::logs {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

// How long a line waits for earlier ones of other ranks. What is not followed has no live rank to delay.
constexpr milliseconds kWindow{100};
constexpr milliseconds kWindowOfPast = seconds(2);
constexpr milliseconds kBetweenWrites{20};
constexpr milliseconds kTick = seconds(1);
// A later attempt is shown although a log of the earlier one has not ended: its node may be lost.
constexpr milliseconds kPatience = seconds(5);
// The watches of job and pods are two.
constexpr milliseconds kPodsFollow = seconds(2);
// The job is over, and a worker still seems to run: its node may be lost.
constexpr milliseconds kNobodyEnds = seconds(60);
// Of a rank that is shown from its failure on.
constexpr std::int64_t kLinesOfFailed = 100;

std::string rank_name(std::int64_t rank) { return "rank " + std::to_string(rank); }

std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

}  // namespace

LogFollower::LogFollower(FollowOptions options, FetchLog fetch, LogOutput& output, base::Clock& clock)
    : options_(std::move(options)),
      fetch_(std::move(fetch)),
      output_(output),
      clock_(clock),
      hub_(options_.follow ? kWindow : kWindowOfPast, clock) {}

void LogFollower::update(Picture picture) {
  {
    const base::MutexLock lock(mutex_);
    const auto version = [](const Picture& of) { return of.job.metadata.resource_version; };
    if (newest_ && version(*newest_) != version(picture)) earlier_.push_back(std::move(newest_->job));
    newest_ = std::move(picture);
  }
  hub_.wake();
}

base::Result<FollowEnd> LogFollower::run(const std::stop_token& stop) {
  base::SteadyTime written{};
  while (!stop.stop_requested()) {
    if (refresh() || next_since_ || all_ended()) {
      const Attempts attempts = attempts_of(picture_);
      tell_sources(attempts);
      open_attempts(attempts);
    }
    write_due(false);
    collect_ended();
    if (!output_.flush()) break;
    if (refused_ || at_end()) break;
    written = clock_.now();
    hub_.wait(written + kBetweenWrites, written + kTick, stop);
  }
  write_due(true);
  collect_ended();  // of those that have ended since the last look
  if (!refused_ && !stop.stop_requested()) {
    note_end_of_attempt();
    show_kept_lines();
  }
  output_.flush();
  const bool any_worker = !sources_.empty();
  sources_.clear();  // ends their threads
  if (refused_) return tl::unexpected<base::Error>(*refused_);
  return FollowEnd{complete_, any_worker, picture_.over(), std::move(picture_.job)};
}

// True if the picture has changed.
bool LogFollower::refresh() {
  std::vector<api::GpuJob> earlier;
  {
    const base::MutexLock lock(mutex_);
    if (!newest_) return false;
    picture_ = *std::exchange(newest_, std::nullopt);
    earlier = std::exchange(earlier_, {});
  }
  // A state that lasted for a moment may be the only one that tells how an attempt has ended.
  for (const api::GpuJob& job : earlier) {
    note_outcome(job);
    note_phase(job);
  }
  note_outcome(picture_.job);
  if (picture_.over() && !over_since_) over_since_ = clock_.now();
  if (!picture_.over()) over_since_.reset();
  note_phase(picture_.job);
  return true;
}

// Remembers how an attempt has ended: the next status may tell of other things.
void LogFollower::note_outcome(const api::GpuJob& job) {
  const auto& status = job.status;
  std::int64_t number = -1;
  if (job.finished()) number = status.attempts - 1;
  if (status.lease && status.lease->state == api::lease_state::kReleasing) number = status.lease->attempt;
  if (status.lease && status.lease->state == api::lease_state::kRestarting)
    number = status.lease->attempt - 1;
  if (number < 0) return;
  const std::string begin = "attempt " + std::to_string(number) + ": ";
  std::string why = first_line(std::string(api::without_last_lines(status.message)));
  if (why.starts_with(begin)) why.erase(0, begin.size());
  outcome_ = {number, status.reason + ": " + why};
}

WorkerFacts LogFollower::facts_of(const Worker& worker) const {
  return {.known = true, .gone = false, .job_over = picture_.over(), .state = worker.state};
}

void LogFollower::tell_sources(const Attempts& attempts) {
  for (const auto& source : sources_) {
    const auto& identity = source->identity();
    const Worker* worker = nullptr;
    if (const auto attempt = attempts.find(identity.lease); attempt != attempts.end()) {
      const auto rank = attempt->second.ranks.find(identity.rank);
      if (rank != attempt->second.ranks.end() && rank->second.pod->metadata.uid == identity.pod_uid) {
        worker = &rank->second;
      }
    }
    if (worker != nullptr) {
      source->tell(facts_of(*worker));
    } else {
      source->tell_gone(picture_.over());
    }
  }
}

void LogFollower::open_attempts(const Attempts& attempts) {
  all_open_ = false;
  const auto leases = wanted_leases(attempts, options_.wanted, first_lease_);
  for (const auto lease : leases) {
    if (lease_ && lease < *lease_) continue;
    const Attempt& attempt = attempts.at(lease);
    if (!lease_ || lease > *lease_) {
      if (lease_ && waits_for_earlier(attempt)) return;
      begin_attempt(lease, attempt);
    }
    open_ranks(lease, attempt);
  }
  all_open_ = true;
}

bool LogFollower::waits_for_earlier(const Attempt& next) {
  if (all_ended()) return false;
  if (!options_.follow || !next.has_begun()) return true;
  if (!next_since_) next_since_ = clock_.now();
  return clock_.now() - *next_since_ < kPatience;
}

void LogFollower::begin_attempt(std::int64_t lease, const Attempt& attempt) {
  write_due(true);
  collect_ended();
  note_end_of_attempt();
  if (!first_lease_) first_lease_ = lease;
  lease_ = lease;
  attempt_ = attempt.number;
  next_since_.reset();
  const auto workers = api::worker_count(picture_.job.spec);
  std::string text = picture_.job.metadata.name + ", attempt " + std::to_string(attempt.number);
  if (workers > 1) text += ", " + std::to_string(workers) + " ranks";
  if (const auto nodes = attempt.node_names(); !nodes.empty()) text += ", nodes " + nodes;
  output_.note(text);
}

void LogFollower::open_ranks(std::int64_t lease, const Attempt& attempt) {
  const auto choice = wanted_ranks(attempt, options_.wanted);
  if (choice.left_out > left_out_) {
    left_out_ = choice.left_out;
    output_.left_out(left_out_, options_.wanted.max_streams);
  }
  for (const auto rank : choice.ranks) {
    const auto worker = attempt.ranks.find(rank);
    if (worker != attempt.ranks.end()) open_rank(lease, rank, worker->second);
  }
}

void LogFollower::open_rank(std::int64_t lease, std::int64_t rank, const Worker& worker) {
  const auto& metadata = worker.pod->metadata;
  const bool open = std::ranges::any_of(
      sources_, [&](const auto& source) { return source->identity().pod_uid == metadata.uid; });
  if (open) return;
  ReaderOptions options{.pod = metadata.key(),
                        .container = worker_container(picture_.job),
                        .follow = options_.follow,
                        .raw = options_.raw,
                        .since = options_.since,
                        .tail_lines = options_.tail_lines};
  if (options_.follow && rank != 0 && options_.wanted.ranks.empty() && !options.tail_lines) {
    options.tail_lines = kLinesOfFailed;
    output_.note(rank_name(rank) + " has failed; its last lines follow");
  }
  sources_.push_back(std::make_unique<LogSource>(LogSource::Identity{lease, rank, metadata.uid},
                                                 std::move(options), facts_of(worker), fetch_, hub_, clock_));
  ended_.push_back(false);
}

void LogFollower::note_end_of_attempt() {
  std::string why;
  if (outcome_ && outcome_->first == attempt_) {
    why = std::exchange(outcome_, std::nullopt)->second;
  } else if (const auto& progress = picture_.job.status.progress) {
    // The status with the message was not seen; the history keeps the cause.
    const auto end = std::ranges::find(progress->history, attempt_, &api::AttemptEnd::attempt);
    if (end != progress->history.end()) why = end->cause;
  }
  if (!why.empty()) output_.note("attempt " + std::to_string(attempt_) + " ended: " + why);
}

// While there are no lines, tells what the job waits for.
void LogFollower::note_phase(const api::GpuJob& job) {
  const auto& status = job.status;
  const bool waits = status.phase == api::phase::kQueued || status.phase == api::phase::kInvalid ||
                     status.phase == api::phase::kSuspended;
  if (!options_.follow || !waits) return phase_told_.clear();
  const std::string text = status.phase.string() + (status.reason.empty() ? "" : ": " + status.reason) +
                           (status.message.empty() ? "" : ": " + first_line(status.message));
  if (std::exchange(phase_told_, status.phase.string() + status.reason) ==
      status.phase.string() + status.reason)
    return;
  output_.note(job.metadata.name + " is " + text);
}

void LogFollower::write_due(bool all) {
  const auto items = hub_.take_due(all);
  for (const auto& source : sources_) {
    if (!source->take_gap()) continue;
    complete_ = false;
    output_.problem(rank_name(source->identity().rank) +
                    ": lines may be missing here, because its node has rotated the log");
  }
  // Logs are numbered in the order of the sources.
  for (const auto& item : items) output_.line(sources_[item.log]->identity().rank, item.line);
  if (items.empty()) return;
  any_line_ = true;
  last_line_ = clock_.now();
}

void LogFollower::collect_ended() {
  for (std::size_t i = 0; i < sources_.size(); ++i) {
    if (ended_[i] || !sources_[i]->done()) continue;
    ended_[i] = true;
    const auto& result = sources_[i]->result();
    if (!result) {
      refused_ = result.error();
    } else if (!result->empty()) {
      write_due(true);
      complete_ = false;
      output_.problem(rank_name(sources_[i]->identity().rank) + ": " + *result);
    }
  }
}

bool LogFollower::all_ended() const {
  return std::ranges::all_of(sources_, [](const auto& source) { return source->done(); });
}

// The attempt that alone is wanted is over.
bool LogFollower::attempt_is_over() const {
  const auto& wanted = options_.wanted.attempt;
  const auto& lease = picture_.job.status.lease;
  return wanted &&
         ((lease && lease->attempt > *wanted) || (!lease && picture_.job.status.attempts > *wanted));
}

bool LogFollower::at_end() {
  const auto now = clock_.now();
  const bool shown = all_open_ && all_ended();
  if (!options_.follow) return shown;
  if (!over_since_) return shown && attempt_is_over();
  if (!shown) {
    if (now - std::max(*over_since_, last_line_) < kNobodyEnds) return false;
    complete_ = false;
    output_.problem("the job is over, but not all of its workers' logs have an end");
    return true;
  }
  const bool newest_shown = lease_ && *lease_ >= picture_.job.status.lease_sequence;
  return picture_.job_gone || newest_shown || now - *over_since_ >= kPodsFollow;
}

// The object keeps the last lines of a job whose pods are gone.
void LogFollower::show_kept_lines() {
  const auto lines = api::last_lines(picture_.job.status.message);
  if (any_line_ || lines.empty() || !sources_.empty()) return;
  output_.problem("the pods are gone; of their logs, the job itself has kept these lines");
  output_.without_ranks();
  std::size_t at = 0;
  while (at < lines.size()) {
    const auto end = std::min(lines.find('\n', at), lines.size());
    output_.line(0, LogLine{.time = {}, .stamp = {}, .text = std::string(lines.substr(at, end - at))});
    at = end + 1;
  }
}

}  // namespace gpupool::logs
