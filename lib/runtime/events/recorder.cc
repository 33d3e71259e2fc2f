// SPDX-License-Identifier: Apache-2.0
#include "runtime/events/recorder.h"

#include <algorithm>
#include <thread>
#include <utility>

#include "kube/api_error.h"

namespace gpupool::runtime {

namespace {

using base::ErrorCode;

constexpr api::ResourceType kEvents{"events.k8s.io", "v1", "events", "Event", true};

// The numbers of client-go's tools/events.
constexpr int kMaxTries = 12;
constexpr base::Duration kRetryDelay = std::chrono::seconds(10);
constexpr base::Duration kSweepEvery = std::chrono::minutes(1);
constexpr base::Duration kFlush = std::chrono::seconds(2);

bool transient(ErrorCode code) {
  return code == ErrorCode::kTransport || code == ErrorCode::kTimeout ||
         code == ErrorCode::kTooManyRequests || code == ErrorCode::kServer;
}

base::Counter& dropped(base::Metrics& metrics, const std::string& reason) {
  return metrics.counter("gpupool_events_dropped_total", "Kubernetes events that were not sent",
                         {{"reason", reason}});
}

}  // namespace

EventRecorder::EventRecorder(kube::Client& client, std::string controller, std::string instance,
                             base::Clock& clock, base::Metrics& metrics, base::Log log)
    : client_(client),
      source_{std::move(controller), std::move(instance)},
      clock_(clock),
      log_(std::move(log)),
      dropped_full_(dropped(metrics, "queue_full")),
      dropped_failed_(dropped(metrics, "failed")) {}

void EventRecorder::record(const ObjectReference& regarding, EventType type, const std::string& reason,
                           const std::string& action, const std::string& note) {
  Event event{regarding, type, reason, action, cut_note(note), clock_.wall()};
  const base::MutexLock lock(mutex_);
  if (waiting_.size() >= kMaxWaiting) return dropped_full_.increment();
  waiting_.push_back(std::move(event));
  changed_.notify_all();
}

void EventRecorder::run(std::stop_token stop) {
  std::stop_source sending;
  const Tokens tokens{stop, sending.get_token()};
  // A call in progress may continue after the stop, but only for this time.
  std::jthread limit([&](const std::stop_token& finished) {
    base::Mutex mutex;
    std::condition_variable_any never;
    {
      base::MutexLock lock(mutex);
      clock_.wait(lock.native(), never, tokens.stop, std::nullopt, [] { return false; });
    }
    if (clock_.sleep_for(kFlush, finished)) sending.request_stop();
  });
  auto sweep_at = clock_.now() + kSweepEvery;
  while (!stop.stop_requested()) {
    if (const auto event = next(stop, sweep_at)) send(*event, tokens);
    if (clock_.now() < sweep_at) continue;
    sweep(tokens);
    sweep_at = clock_.now() + kSweepEvery;
  }
  send_queued(tokens);
}

std::optional<Event> EventRecorder::next(const std::stop_token& stop,
                                         std::optional<base::SteadyTime> deadline) {
  base::MutexLock lock(mutex_);
  if (!clock_.wait(lock.native(), changed_, stop, deadline,
                   [this]() GPUPOOL_REQUIRES(mutex_) { return !waiting_.empty(); }))
    return std::nullopt;
  Event event = std::move(waiting_.front());
  waiting_.pop_front();
  return event;
}

void EventRecorder::send_queued(const Tokens& tokens) {
  while (!tokens.sending.stop_requested()) {
    const auto event = next(tokens.sending, clock_.now());
    if (!event) return;
    send(*event, tokens);
  }
  const base::MutexLock lock(mutex_);
  if (waiting_.empty()) return;
  dropped_failed_.increment(static_cast<double>(waiting_.size()));
  log_.warning("Events were not sent before the end", {{"count", waiting_.size()}});
  waiting_.clear();
}

void EventRecorder::send(const Event& event, const Tokens& tokens) {
  const auto seen = book_.see(event, clock_.now());
  if (seen.step == SeriesBook::Step::kNothing) return;
  if (seen.step == SeriesBook::Step::kPatch) {
    const auto patched = patch(seen.patch, tokens);
    if (patched) return;
    if (patched.error().code != ErrorCode::kNotFound) return note_failure(patched.error());
    // The server deletes events after an hour, so the event of this series is gone.
    book_.forget(event);
  }
  create(event, tokens);
}

void EventRecorder::create(const Event& event, const Tokens& tokens) {
  const auto& ns = event.regarding.key.ns;
  const bool cluster_scoped = ns.empty();
  const bool try_default = cluster_scoped && !default_is_refused_;
  auto created = create_in(!cluster_scoped ? ns : try_default ? "default" : "kube-system", event, tokens);
  if (!created && try_default && created.error().code == ErrorCode::kInvalid) {
    // Servers up to 1.20 accept events of cluster-scoped objects only in kube-system
    // (kubernetes/kubernetes#100125).
    created = create_in("kube-system", event, tokens);
    default_is_refused_ = created.has_value();
  }
  if (!created) note_failure(created.error());
}

base::Result<void> EventRecorder::create_in(const std::string& ns, const Event& event, const Tokens& tokens) {
  const auto wall = clock_.wall().time_since_epoch();
  last_stamp_ = std::max(last_stamp_ + 1, std::int64_t{std::chrono::nanoseconds(wall).count()});
  const api::ObjectKey name{ns, event_name(event, last_stamp_)};
  const auto body = event_body(event, source_, name);
  auto created = with_retries(tokens, [&]() -> base::Result<void> {
    const auto answer = client_.create(kEvents, ns, body, tokens.sending);
    // An earlier try, whose answer was lost, has created it.
    if (answer || answer.error().code == ErrorCode::kAlreadyExists) return {};
    return tl::unexpected<base::Error>(answer.error());
  });
  if (created) book_.created(event, name, clock_.now());
  return created;
}

base::Result<void> EventRecorder::patch(const SeriesBook::Patch& patch, const Tokens& tokens) {
  const auto body = series_patch(patch.count, patch.last_observed);
  return with_retries(tokens, [&]() -> base::Result<void> {
    const auto answer =
        client_.patch(kEvents, patch.event, kube::PatchType::kMerge, body, "", tokens.sending);
    if (answer) return {};
    return tl::unexpected<base::Error>(answer.error());
  });
}

void EventRecorder::sweep(const Tokens& tokens) {
  for (const auto& due : book_.sweep(clock_.now())) {
    if (tokens.stop.stop_requested()) return;
    const auto patched = patch(due, tokens);
    if (!patched) note_failure(patched.error());
  }
}

base::Result<void> EventRecorder::with_retries(const Tokens& tokens,
                                               const std::function<base::Result<void>()>& call) {
  for (int tries = 1;; ++tries) {
    auto result = call();
    if (result || !transient(result.error().code) || tries == kMaxTries || tokens.stop.stop_requested())
      return result;
    clock_.sleep_for(kRetryDelay, tokens.stop);
  }
}

void EventRecorder::note_failure(const base::Error& error) {
  dropped_failed_.increment();
  // The namespace is being deleted or gone, and its events with it.
  if (error.code == ErrorCode::kNotFound || kube::is_namespace_terminating(error)) return;
  log_.warning("An event was not sent", {{"error", error.message}});
}

}  // namespace gpupool::runtime
