// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>

#include "limiter/cuda/lock.h"
#include "limiter/cuda/types.h"
#include "limiter/limits/limits.h"
#include "limiter/region/ledger.h"

namespace gpupool::limiter {

// Position of a device that nothing is charged to, because nothing limits it.
inline constexpr unsigned kUncharged = ~0U;

// This process's part in its container's limits. It reads the limits and attaches to the region at the first
// call that needs them. Constant-initialized and thread-safe; it never calls the driver with a lock held.
class Session {
 public:
  // Whether anything is limited. If not, calls go to the driver as they are.
  bool limits_anything() {
    start();
    return ledger_.limits().source != Limits::Source::kNone;
  }

  // Where the limits name this device; kUncharged without limits. One that the limits do not name, or that
  // does not say which it is, gets a position at which the ledger refuses. Before cuInit: kUncharged, since
  // the driver refuses everything.
  unsigned position(CUdevice device);

  // The device of the calling thread's current context and its position. An error is the driver's, and that
  // of every call that needs a context.
  CUresult current(CUdevice& device, unsigned& position);

  Ledger& ledger() { return ledger_; }

  // Reads the limits and attaches, once.
  void start() {
    if (!started_.load(std::memory_order_acquire)) {
      start_once();
    }
  }

 private:
  static constexpr int kCached = 64;  // devices

  void start_once();
  unsigned find_position(CUdevice device, bool& known);
  static void forget_after_fork();

  std::atomic<bool> started_{false};
  bool watches_forks_ = false;
  Lock lock_;
  std::atomic<std::uint32_t> positions_[kCached] = {};  // position + 1; 0: not known yet
  Ledger ledger_;
};

extern constinit Session session;  // NOLINT(bugprone-dynamic-static-initializers): constinit

// The calling thread's context; nullptr if there is none.
CUcontext current_context();

}  // namespace gpupool::limiter
