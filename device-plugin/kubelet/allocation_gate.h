// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <shared_mutex>

#include "base/mutex.h"

namespace gpupool::kubelet {

// Keeps a new cut of a GPU from being published between an Allocate and the moment when podresources lists
// its pod: the planner would take slices that were just given out for free ones.
//
// gRPC's threads hold a Pass during each Allocate (shared). The agent's thread publishes with if_quiet()
// (exclusive), which does nothing if an Allocate began after podresources was asked. Thread-safe.
class AllocationGate {
 public:
  // Held while one Allocate is answered.
  class Pass {
   public:
    explicit Pass(AllocationGate& gate) : lock_(gate.mutex_) { ++gate.begun_; }

   private:
    std::shared_lock<base::SharedMutex> lock_;
  };

  Pass enter() { return Pass(*this); }
  // The number of allocations that were ever begun.
  std::uint64_t begun() const { return begun_.load(); }
  // Calls `publish` if no allocation is under way and none has begun since begun() was `seen`. Blocks while
  // one is under way. Returns whether it called.
  template <class Publish>
  bool if_quiet(std::uint64_t seen, const Publish& publish) {
    const base::WriterLock lock(mutex_);
    if (begun_.load() != seen) return false;
    publish();
    return true;
  }

 private:
  base::SharedMutex mutex_;  // protects no data: it keeps allocations and publish() apart
  std::atomic<std::uint64_t> begun_{0};
};

}  // namespace gpupool::kubelet
