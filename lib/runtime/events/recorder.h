// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <stop_token>
#include <string>

#include "base/clock.h"
#include "base/log.h"
#include "base/metrics.h"
#include "base/mutex.h"
#include "kube/client.h"
#include "runtime/events/event.h"
#include "runtime/events/series_book.h"
#include "runtime/manager/runnable.h"

namespace gpupool::runtime {

// Sends Kubernetes Events (events.k8s.io/v1), which `kubectl describe` shows. Best effort: record() never
// blocks and never fails a reconcile. A repeated event becomes a series, as in client-go's tools/events: one
// create, one patch at the second time, then at most one patch per 30 min, and one with the final count after
// 6 min without a repetition. At most kMaxWaiting events wait; more are dropped and counted. Thread-safe:
// reconcile threads call record(), the manager runs run() on a thread of its own.
class EventRecorder final : public Runnable {
 public:
  static constexpr std::size_t kMaxWaiting = 1000;

  // controller: a qualified name such as "example.com/operator". instance: names this process, at most 128
  // bytes. REQUIRES: everything referenced outlives the recorder.
  EventRecorder(kube::Client& client, std::string controller, std::string instance, base::Clock& clock,
                base::Metrics& metrics, base::Log log);

  // reason: CamelCase. action: what the controller did, CamelCase. note: for people; cut at 1 KiB.
  void record(const ObjectReference& regarding, EventType type, const std::string& reason,
              const std::string& action, const std::string& note);

  std::string name() const override { return "events"; }
  // After a stop request, sends the waiting events for at most 2 s.
  void run(std::stop_token stop) override;

 private:
  // stop: ends retries. sending: ends calls.
  struct Tokens {
    std::stop_token stop;
    std::stop_token sending;
  };
  std::optional<Event> next(const std::stop_token& stop, std::optional<base::SteadyTime> deadline);
  void send_queued(const Tokens& tokens);
  void send(const Event& event, const Tokens& tokens);
  void create(const Event& event, const Tokens& tokens);
  base::Result<void> create_in(const std::string& ns, const Event& event, const Tokens& tokens);
  base::Result<void> patch(const SeriesBook::Patch& patch, const Tokens& tokens);
  void sweep(const Tokens& tokens);
  base::Result<void> with_retries(const Tokens& tokens, const std::function<base::Result<void>()>& call);
  void note_failure(const base::Error& error);

  kube::Client& client_;
  EventSource source_;
  base::Clock& clock_;
  base::Log log_;
  base::Counter& dropped_full_;
  base::Counter& dropped_failed_;
  base::Mutex mutex_;
  std::condition_variable_any changed_;
  std::deque<Event> waiting_ GPUPOOL_GUARDED_BY(mutex_);
  // Of run()'s thread only:
  SeriesBook book_;
  std::int64_t last_stamp_ = 0;
  bool default_is_refused_ = false;
};

}  // namespace gpupool::runtime
