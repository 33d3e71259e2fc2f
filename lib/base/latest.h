// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <utility>

#include "base/mutex.h"

namespace gpupool::base {

// The latest value of something that one thread replaces as a whole and others read. A reader gets the value
// of the moment and keeps it as long as it likes; it never sees half of a change. Thread-safe. A set() is not
// announced: who must see every change needs more than this.
template <class T>
class Latest {
 public:
  using Ptr = std::shared_ptr<const T>;

  Latest() : Latest(T()) {}
  explicit Latest(T first) : value_(std::make_shared<const T>(std::move(first))) {}

  void set(T value) {
    auto next =
        std::make_shared<const T>(std::move(value));  // afterwards the old value, freed without the lock
    const MutexLock lock(mutex_);
    value_.swap(next);
  }
  // Never null.
  Ptr get() const {
    const MutexLock lock(mutex_);
    return value_;
  }

 private:
  mutable Mutex mutex_;
  Ptr value_ GPUPOOL_GUARDED_BY(mutex_);
};

}  // namespace gpupool::base
