// SPDX-License-Identifier: Apache-2.0
#include "runtime/manager/part_threads.h"

#include <algorithm>
#include <exception>

namespace gpupool::runtime {

namespace {

void run_part(Runnable& runnable, const std::string& name, const std::stop_token& stop,
              const base::Log& log) {
  try {
    runnable.run(stop);
  } catch (const std::exception& error) {
    log.error("A part of the program threw an exception", {{"part", name}, {"error", error.what()}});
  } catch (...) {
    log.error("A part of the program threw an exception", {{"part", name}});
  }
}

}  // namespace

PartThreads::PartThreads(base::Clock& clock, base::Log log)
    : clock_(clock), log_(std::move(log)), shared_(std::make_shared<Shared>()) {}

void PartThreads::start(Runnable& runnable) {
  auto part = std::make_shared<Part>();
  part->runnable = &runnable;
  part->name = runnable.name();
  {
    const base::MutexLock lock(shared_->mutex);
    shared_->parts.push_back(part);
  }
  std::thread thread([part, shared = shared_, log = log_] {
    run_part(*part->runnable, part->name, part->stop.get_token(), log);
    const base::MutexLock lock(shared->mutex);
    part->returned = true;
    shared->changed.notify_all();
  });
  running_.push_back({std::move(part), std::move(thread)});
}

void PartThreads::wait(std::stop_token stop, std::optional<base::SteadyTime> deadline) {
  base::MutexLock lock(shared_->mutex);
  clock_.wait(lock.native(), shared_->changed, std::move(stop), deadline,
              [this]() GPUPOOL_REQUIRES(shared_->mutex) {
                return std::ranges::any_of(shared_->parts, [](const auto& part) { return part->returned; });
              });
}

std::vector<std::string> PartThreads::returned() const {
  const base::MutexLock lock(shared_->mutex);
  std::vector<std::string> names;
  for (const auto& part : shared_->parts) {
    if (part->returned) names.push_back(part->name);
  }
  return names;
}

bool PartThreads::has_returned(const Runnable& runnable) const {
  const base::MutexLock lock(shared_->mutex);
  return std::ranges::any_of(shared_->parts,
                             [&](const auto& part) { return part->runnable == &runnable && part->returned; });
}

void PartThreads::abandon() {
  for (auto& running : running_) {
    running.part->stop.request_stop();
    running.thread.detach();
  }
  running_.clear();
}

std::vector<std::string> PartThreads::stop(const std::vector<Runnable*>& runnables,
                                           base::SteadyTime deadline) {
  std::vector<Running*> stopping;
  for (auto& running : running_) {
    if (std::ranges::find(runnables, running.part->runnable) != runnables.end()) stopping.push_back(&running);
  }
  for (auto* running : stopping) running->part->stop.request_stop();
  std::vector<std::string> late;
  for (auto* running : stopping) {
    {
      base::MutexLock lock(shared_->mutex);
      if (!clock_.wait(lock.native(), shared_->changed, {}, deadline,
                       [&] { return running->part->returned; })) {
        late.push_back(running->part->name);
        running->thread.detach();
        continue;
      }
    }
    running->thread.join();
  }
  return late;
}

}  // namespace gpupool::runtime
