// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>

#include "api/meta/resource_type.h"
#include "base/clock.h"
#include "base/mutex.h"
#include "base/result.h"
#include "kube/client.h"
#include "worker_logs/log_line.h"
#include "worker_logs/next_step.h"
#include "worker_logs/resume_point.h"

namespace gpupool::logs {

// kube::Client::pod_log, or a test's.
using FetchLog = std::function<base::Result<void>(const api::ObjectKey& pod, const kube::LogOptions& options,
                                                  const std::function<bool(std::string_view)>& on_piece,
                                                  std::stop_token stop)>;

// Passes what is known of a worker to the thread that reads its log. Thread-safe.
class FactsBox {
 public:
  explicit FactsBox(base::Clock& clock) : clock_(clock) {}

  void set(WorkerFacts facts);
  // Returns the facts and their number, which grows with each change.
  std::pair<WorkerFacts, std::uint64_t> get() const;
  // Waits until the number is another one, for at most `most` (nullopt: for ever), or until stop is
  // requested.
  void wait_change(std::uint64_t number, std::optional<base::Duration> most, const std::stop_token& stop);

 private:
  base::Clock& clock_;
  mutable base::Mutex mutex_;
  std::condition_variable_any changed_;
  WorkerFacts facts_ GPUPOOL_GUARDED_BY(mutex_);
  std::uint64_t number_ GPUPOOL_GUARDED_BY(mutex_) = 0;
};

// Where a reader delivers; called on its thread.
class LineSink {
 public:
  virtual ~LineSink() = default;
  // May block. False: no more lines are wanted.
  virtual bool on_line(LogLine line) = 0;
  // Lines before the next one may be missing, because the kubelet has rotated the log.
  virtual void on_gap() = 0;
};

struct ReaderOptions {
  api::ObjectKey pod;
  std::string container;
  bool follow = false;
  bool raw = false;  // keep carriage returns
  std::optional<base::WallTime> since = std::nullopt;
  std::optional<std::int64_t> tail_lines = std::nullopt;
};

// Reads the log of one worker: each line once, in order, whatever breaks in between. Runs on one thread.
class RankReader {
 public:
  // REQUIRES: everything referenced outlives the reader.
  RankReader(ReaderOptions options, const FetchLog& fetch, FactsBox& facts, LineSink& sink,
             base::Clock& clock);

  // Returns when the log is complete, cannot be completed, or stop is requested: a note for people, empty if
  // there is nothing to say. Errors: the caller may not read it.
  base::Result<std::string> run(const std::stop_token& stop);

 private:
  base::Result<void> read(const Open& open, const WorkerFacts& facts, const std::stop_token& stop);
  kube::LogOptions log_options(const Open& open) const;
  bool take(LogLine line, bool previous);

  ReaderOptions options_;
  const FetchLog& fetch_;
  FactsBox& facts_;
  LineSink& sink_;
  base::Clock& clock_;
  ResumePoint resume_;
  ReaderMemory memory_;
  bool new_lines_ = false;   // the present stream has brought some
  bool seen_again_ = false;  // the present stream has brought some that were seen before
  bool unwanted_ = false;    // the sink wants no more
};

}  // namespace gpupool::logs
