// SPDX-License-Identifier: Apache-2.0
#include "runtime/controller/controller.h"

#include <array>
#include <charconv>
#include <exception>
#include <random>
#include <thread>
#include <utility>
#include <vector>

namespace gpupool::runtime {

namespace {

std::string hex(std::uint64_t number) {
  std::array<char, 16> digits{};
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), number, 16).ptr;
  return {digits.data(), end};
}

}  // namespace

Controller::Controller(ControllerOptions options, Reconciler& reconciler, base::Clock& clock,
                       base::Metrics& metrics, const base::Log& log)
    : options_(std::move(options)),
      reconciler_(reconciler),
      clock_(clock),
      metrics_(make_controller_metrics(metrics, options_.name)),
      log_(log.with({{"controller", options_.name}, {"controllerKind", options_.kind}})),
      queue_(clock, options_.max_backoff, make_queue_metrics(metrics, options_.name)),
      id_prefix_(hex(std::random_device{}()) + "-") {
  metrics_.max_threads.set(options_.threads);
}

void Controller::run(std::stop_token stop) {
  log_.info("Starting reconcile threads", {{"threads", options_.threads}});
  std::vector<std::jthread> threads;
  threads.reserve(static_cast<std::size_t>(options_.threads));
  for (int i = 1; i < options_.threads; ++i) threads.emplace_back([this, stop] { work(stop); });
  work(stop);
  for (auto& thread : threads) thread.join();
  log_.info("All reconcile threads finished");
}

void Controller::work(const std::stop_token& stop) {
  while (const auto key = queue_.get(stop)) {
    count_active(+1);
    reconcile_one(*key, stop);
    queue_.done(*key);
    count_active(-1);
  }
}

void Controller::reconcile_one(const api::ObjectKey& key, const std::stop_token& stop) {
  const auto log =
      log_.with({{"namespace", key.ns}, {"name", key.name}, {"reconcileID", next_reconcile_id()}});
  const auto began = clock_.now();
  const auto outcome = call(key, log, stop);
  metrics_.seconds.observe(std::chrono::duration<double>(clock_.now() - began).count());
  if (!outcome.result) return retry(key, outcome, log, stop);
  queue_.forget(key);
  if (const auto& after = outcome.result->after) {
    metrics_.requeue_after.increment();
    queue_.add_after(key, *after);
  } else {
    metrics_.success.increment();
  }
}

Controller::Outcome Controller::call(const api::ObjectKey& key, const base::Log& log,
                                     const std::stop_token& stop) {
  try {
    return {reconciler_.reconcile(key, log, stop)};
  } catch (const std::exception& error) {
    return {base::fail(base::ErrorCode::kInvalidArgument, std::string("exception: ") + error.what()), true};
  } catch (...) {
    return {base::fail(base::ErrorCode::kInvalidArgument, "exception of an unknown type"), true};
  }
}

void Controller::retry(const api::ObjectKey& key, const Outcome& outcome, const base::Log& log,
                       const std::stop_token& stop) {
  const auto& error = outcome.result.error();
  queue_.add_rate_limited(key);
  // A call that was cancelled by the stop is not an error of this object.
  if (error.code == base::ErrorCode::kCancelled && stop.stop_requested()) return;
  metrics_.error.increment();
  metrics_.errors.increment();
  if (outcome.panicked) metrics_.panics.increment();
  // The object was written by another client; the watch brings the change.
  if (error.code == base::ErrorCode::kConflict) {
    log.debug("Reconciler conflict", {{"error", error.message}});
  } else {
    log.error("Reconciler error", {{"error", error.message}, {"reason", base::to_string(error.code)}});
  }
}

void Controller::count_active(int change) {
  const base::MutexLock lock(mutex_);
  active_ += change;
  metrics_.active_threads.set(active_);
}

std::string Controller::next_reconcile_id() {
  const base::MutexLock lock(mutex_);
  return id_prefix_ + hex(++reconciles_);
}

}  // namespace gpupool::runtime
