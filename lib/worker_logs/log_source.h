// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <optional>
#include <string>
#include <thread>

#include "worker_logs/line_hub.h"
#include "worker_logs/rank_reader.h"

namespace gpupool::logs {

// One log that is read on a thread of its own, into a hub. Its methods are for one thread.
class LogSource final : private LineSink {
 public:
  struct Identity {
    std::int64_t lease = 0;
    std::int64_t rank = 0;
    std::string pod_uid;
  };

  // Begins to read. REQUIRES: everything referenced outlives the source.
  LogSource(Identity identity, ReaderOptions options, WorkerFacts facts, const FetchLog& fetch, LineHub& hub,
            base::Clock& clock);

  const Identity& identity() const { return identity_; }
  std::size_t log() const { return log_; }
  const std::string& pod_name() const { return pod_name_; }
  void tell(const WorkerFacts& facts);
  // The pod was deleted. What was told of the worker last stays true.
  void tell_gone(bool job_over);

  bool done() const { return done_.load(); }
  // True once after lines may have been missed.
  bool take_gap() { return gap_.exchange(false); }
  // REQUIRES: done(). A note for people, or why the log may not be read.
  const base::Result<std::string>& result() const { return result_; }

 private:
  bool on_line(LogLine line) override;
  void on_gap() override;
  void read(const std::stop_token& stop);

  Identity identity_;
  std::string pod_name_;
  LineHub& hub_;
  std::size_t log_;
  WorkerFacts told_;
  FactsBox facts_;
  RankReader reader_;
  base::Result<std::string> result_;
  std::atomic<bool> done_{false};
  std::atomic<bool> gap_{false};
  std::stop_token stop_;  // of the thread
  std::jthread thread_;   // last: it uses the others
};

}  // namespace gpupool::logs
