#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <shared_mutex>

namespace gpupool::kubelet {

// Keeps a new cut of a GPU from coming between an Allocate and the moment that podresources tells of it.
// Thread-safe.
class AllocationGate {
 public:
  // Held while one Allocate is answered.
  class Pass {
   public:
    explicit Pass(AllocationGate& gate) : lock_(gate.mutex_) { ++gate.begun_; }

   private:
    std::shared_lock<std::shared_mutex> lock_;
  };

  Pass enter() { return Pass(*this); }
  // Allocations ever begun.
  std::uint64_t begun() const { return begun_.load(); }
  // Calls `publish` while none is under way, if none has begun since begun() was `seen`. Returns whether it
  // did.
  template <class Publish>
  bool if_quiet(std::uint64_t seen, const Publish& publish) {
    const std::unique_lock lock(mutex_);
    if (begun_.load() != seen) return false;
    publish();
    return true;
  }

 private:
  std::shared_mutex mutex_;
  std::atomic<std::uint64_t> begun_{0};
};

}  // namespace gpupool::kubelet
