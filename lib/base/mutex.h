// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <mutex>
#include <shared_mutex>

#include "base/thread_annotations.h"

namespace gpupool::base {

// std::mutex and std::shared_mutex with attributes, so that clang checks at compile time what is read and
// written without its lock. Data that a mutex protects is declared with GPUPOOL_GUARDED_BY(mutex_). The
// wrappers cost nothing over the standard types.

// REQUIRES: not locked by a thread that holds it already; not destroyed while held.
class GPUPOOL_CAPABILITY("mutex") Mutex {
 public:
  Mutex() = default;
  Mutex(const Mutex&) = delete;
  Mutex& operator=(const Mutex&) = delete;

  void lock() GPUPOOL_ACQUIRE() { mutex_.lock(); }
  void unlock() GPUPOOL_RELEASE() { mutex_.unlock(); }
  bool try_lock() GPUPOOL_TRY_ACQUIRE(true) { return mutex_.try_lock(); }

 private:
  friend class MutexLock;
  std::mutex mutex_;
};

// Holds a Mutex until the end of the scope, as std::unique_lock does. Used by the thread that made it.
class GPUPOOL_SCOPED_CAPABILITY MutexLock {
 public:
  explicit MutexLock(Mutex& mutex) GPUPOOL_ACQUIRE(mutex) : lock_(mutex.mutex_) {}
  ~MutexLock() GPUPOOL_RELEASE() = default;
  MutexLock(const MutexLock&) = delete;
  MutexLock& operator=(const MutexLock&) = delete;

  // Gives the mutex back before the end of the scope, and takes it again.
  void unlock() GPUPOOL_RELEASE() { lock_.unlock(); }
  void lock() GPUPOOL_ACQUIRE() { lock_.lock(); }

  // For waits: base::Clock::wait() and std::condition_variable_any give the mutex back while they wait and
  // hold it again when they return, so for the caller it is held all the time.
  std::unique_lock<std::mutex>& native() { return lock_; }

 private:
  std::unique_lock<std::mutex> lock_;
};

// Many readers or one writer.
//
// REQUIRES: not locked, in either way, by a thread that holds it already; not destroyed while held.
class GPUPOOL_CAPABILITY("shared mutex") SharedMutex {
 public:
  SharedMutex() = default;
  SharedMutex(const SharedMutex&) = delete;
  SharedMutex& operator=(const SharedMutex&) = delete;

  void lock() GPUPOOL_ACQUIRE() { mutex_.lock(); }
  void unlock() GPUPOOL_RELEASE() { mutex_.unlock(); }
  void lock_shared() GPUPOOL_ACQUIRE_SHARED() { mutex_.lock_shared(); }
  void unlock_shared() GPUPOOL_RELEASE_SHARED() { mutex_.unlock_shared(); }

 private:
  std::shared_mutex mutex_;
};

// Holds a SharedMutex for writing until the end of the scope.
class GPUPOOL_SCOPED_CAPABILITY WriterLock {
 public:
  explicit WriterLock(SharedMutex& mutex) GPUPOOL_ACQUIRE(mutex) : mutex_(mutex) { mutex_.lock(); }
  ~WriterLock() GPUPOOL_RELEASE() { mutex_.unlock(); }
  WriterLock(const WriterLock&) = delete;
  WriterLock& operator=(const WriterLock&) = delete;

 private:
  SharedMutex& mutex_;
};

// Holds a SharedMutex for reading until the end of the scope.
class GPUPOOL_SCOPED_CAPABILITY ReaderLock {
 public:
  explicit ReaderLock(SharedMutex& mutex) GPUPOOL_ACQUIRE_SHARED(mutex) : mutex_(mutex) {
    mutex_.lock_shared();
  }
  ~ReaderLock() GPUPOOL_RELEASE_GENERIC() { mutex_.unlock_shared(); }
  ReaderLock(const ReaderLock&) = delete;
  ReaderLock& operator=(const ReaderLock&) = delete;

 private:
  SharedMutex& mutex_;
};

}  // namespace gpupool::base
