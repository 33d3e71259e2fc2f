// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/mutex.h"
#include "worker_logs/attempts.h"
#include "worker_logs/line_hub.h"
#include "worker_logs/log_output.h"
#include "worker_logs/log_source.h"

namespace gpupool::logs {

struct FollowOptions {
  bool follow = false;
  bool raw = false;
  Wanted wanted = {};
  std::optional<base::WallTime> since = std::nullopt;
  std::optional<std::int64_t> tail_lines = std::nullopt;
};

// How run() ended.
struct FollowEnd {
  bool complete = true;     // false: some log could not be read, or not to its end
  bool any_worker = false;  // there was a log to read
  bool job_over = false;
  api::GpuJob job = {};  // as last seen
};

// Shows the logs of a job's workers: one thread reads each log, the thread of run() merges and writes them.
// Attempts are shown one after the other.
class LogFollower {
 public:
  // REQUIRES: everything referenced outlives the follower.
  LogFollower(FollowOptions options, FetchLog fetch, LogOutput& output, base::Clock& clock);

  // The newest picture of the job. Thread-safe.
  void update(Picture picture);

  // Returns when everything is shown (follow: and the job is over), or stop is requested. Errors: the caller
  // may not read the logs. REQUIRES: update() was called; called once.
  base::Result<FollowEnd> run(const std::stop_token& stop);

 private:
  using Attempts = std::map<std::int64_t, Attempt>;

  bool refresh();
  void tell_sources(const Attempts& attempts);
  void open_attempts(const Attempts& attempts);
  bool waits_for_earlier(const Attempt& next);
  void begin_attempt(std::int64_t lease, const Attempt& attempt);
  void open_ranks(std::int64_t lease, const Attempt& attempt);
  void open_rank(std::int64_t lease, std::int64_t rank, const Worker& worker);
  WorkerFacts facts_of(const Worker& worker) const;
  void note_end_of_attempt();
  void note_outcome(const api::GpuJob& job);
  void note_phase(const api::GpuJob& job);
  void write_due(bool all);
  void collect_ended();
  bool all_ended() const;
  bool at_end();
  bool attempt_is_over() const;
  void show_kept_lines();

  FollowOptions options_;
  FetchLog fetch_;
  LogOutput& output_;
  base::Clock& clock_;
  LineHub hub_;
  base::Mutex mutex_;
  std::optional<Picture> newest_ GPUPOOL_GUARDED_BY(mutex_);
  std::vector<api::GpuJob> earlier_ GPUPOOL_GUARDED_BY(mutex_);  // states that newest_ has replaced

  // The rest is of the thread of run().
  Picture picture_ = {};
  std::vector<std::unique_ptr<LogSource>> sources_;
  std::vector<bool> ended_;  // by source: its end was told
  std::optional<std::int64_t> first_lease_;
  std::optional<std::int64_t> lease_;  // of the attempt that is shown
  std::int64_t attempt_ = -1;
  std::optional<std::pair<std::int64_t, std::string>> outcome_;  // of the last attempt that ended
  std::string phase_told_;
  std::optional<base::SteadyTime> next_since_;  // a later attempt has begun
  std::optional<base::SteadyTime> over_since_;
  base::SteadyTime last_line_{};
  std::int64_t left_out_ = 0;
  bool all_open_ = false;  // no attempt waits for an earlier one
  bool any_line_ = false;
  bool complete_ = true;
  std::optional<base::Error> refused_;
};

}  // namespace gpupool::logs
