// SPDX-License-Identifier: Apache-2.0
#include "runtime/manager/manager.h"

#include <algorithm>
#include <utility>

#include "base/heap.h"
#include "base/join.h"
#include "runtime/manager/part_threads.h"

namespace gpupool::runtime {

namespace {

// Caches and the leader gate are polled, because they do not report their state.
constexpr base::Duration kPoll = std::chrono::milliseconds(50);

base::Result<void> returned_early(const PartThreads& threads) {
  const auto names = threads.returned();
  if (names.empty()) return {};
  return base::fail(base::ErrorCode::kIo, "stopped by itself: " + base::join(names, ", "));
}

}  // namespace

Manager::Manager(base::Clock& clock, base::Log log) : clock_(clock), log_(std::move(log)) {}

void Manager::add_cache(Runnable& runnable, std::function<bool()> synced) {
  caches_.push_back({&runnable, std::move(synced)});
}

void Manager::add_controller(Runnable& runnable) { controllers_.push_back(&runnable); }

void Manager::add_last(Runnable& runnable) { last_.push_back(&runnable); }

void Manager::set_leader_gate(LeaderGate& gate) { gate_ = &gate; }

base::Result<void> Manager::run(std::stop_token stop, base::Duration sync_timeout, base::Duration grace) {
  PartThreads threads(clock_, log_);
  for (auto* part : last_) threads.start(*part);
  for (const auto& cache : caches_) threads.start(*cache.runnable);
  auto result = wait_for_caches(threads, stop, sync_timeout);
  if (result && !stop.stop_requested()) {
    log_.info("Caches are synced");
    base::return_free_pages();  // the pages that the texts of the lists used
    ready_.store(true);
    result = wait_for_leadership(threads, stop);
  }
  if (result && prepare_ && !stop.stop_requested()) prepare_(stop);
  if (result && !stop.stop_requested()) {
    for (auto* part : controllers_) threads.start(*part);
    threads.wait(stop, std::nullopt);
    if (!stop.stop_requested()) result = returned_early(threads);
  }
  ready_.store(false);
  if (leadership_lost(threads)) {
    // Another program may lead already, so nothing may run on, not even an orderly stop.
    threads.abandon();
    return base::fail(base::ErrorCode::kIo, "leadership was lost");
  }
  return stop_parts(threads, std::move(result), grace);
}

base::Result<void> Manager::stop_parts(PartThreads& threads, base::Result<void> result,
                                       base::Duration grace) {
  if (!result) log_.error("Stopping", {{"error", result.error().message}});
  std::vector<std::string> late;
  const auto began = clock_.now();
  const auto stop_group = [&](const std::vector<Runnable*>& group, int percent) {
    for (auto& name : threads.stop(group, began + grace * percent / 100)) late.push_back(std::move(name));
  };
  std::vector<Runnable*> caches;
  caches.reserve(caches_.size());
  for (const auto& cache : caches_) caches.push_back(cache.runnable);
  // Each group has its own deadline, so that a part that hangs leaves time for the groups after it.
  stop_group(controllers_, 60);
  stop_group(caches, 80);
  stop_group(last_, 100);
  if (gate_ != nullptr) {
    stop_group({gate_}, 100);
    if (late.empty())
      gate_->give_up();  // else the parts that still run are protected until the election lease expires
  }
  if (late.empty()) return result;
  const auto message = "did not stop in time: " + base::join(late, ", ");
  log_.error("Stopping took too long", {{"parts", base::join(late, ", ")}});
  return base::fail(base::ErrorCode::kTimeout, result ? message : result.error().message + "; " + message);
}

base::Result<void> Manager::wait_for_leadership(PartThreads& threads, const std::stop_token& stop) {
  if (gate_ == nullptr) return {};
  threads.start(*gate_);
  while (!stop.stop_requested() && !gate_->leading()) {
    if (auto ok = returned_early(threads); !ok) return ok;
    threads.wait(stop, clock_.now() + kPoll);
  }
  return {};
}

bool Manager::leadership_lost(const PartThreads& threads) const {
  return gate_ != nullptr && threads.has_returned(*gate_);
}

base::Result<void> Manager::wait_for_caches(PartThreads& threads, const std::stop_token& stop,
                                            base::Duration sync_timeout) {
  const auto deadline = clock_.now() + sync_timeout;
  while (!stop.stop_requested()) {
    if (auto ok = returned_early(threads); !ok) return ok;
    const auto missing = unsynced();
    if (missing.empty()) return {};
    const auto now = clock_.now();
    if (now >= deadline) {
      return base::fail(base::ErrorCode::kTimeout, "not synced in time: " + base::join(missing, ", "));
    }
    threads.wait(stop, std::min(now + kPoll, deadline));
  }
  return {};
}

bool Manager::ready() const { return ready_.load(); }

std::vector<std::string> Manager::unsynced() const {
  std::vector<std::string> names;
  for (const auto& cache : caches_) {
    if (!cache.synced()) names.push_back(cache.runnable->name());
  }
  return names;
}

}  // namespace gpupool::runtime
