// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <pthread.h>

namespace gpupool::limiter {

// A mutex without the C++ library; all zeros is unlocked. It is never held during a driver call.
class Lock {
 public:
  void lock() { pthread_mutex_lock(&mutex_); }
  void unlock() { pthread_mutex_unlock(&mutex_); }
  // In the child of a fork, whatever thread of the parent held it.
  void reset() { mutex_ = PTHREAD_MUTEX_INITIALIZER; }

 private:
  pthread_mutex_t mutex_ = PTHREAD_MUTEX_INITIALIZER;
};

class Locked {
 public:
  explicit Locked(Lock& lock) : lock_(lock) { lock_.lock(); }
  ~Locked() { lock_.unlock(); }
  Locked(const Locked&) = delete;
  Locked& operator=(const Locked&) = delete;

 private:
  Lock& lock_;
};

}  // namespace gpupool::limiter
