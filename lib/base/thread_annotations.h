// SPDX-License-Identifier: Apache-2.0
#pragma once

// Attributes that say which mutex protects what. clang checks them with -Wthread-safety (.ci/tidy does); g++
// sees nothing. See https://clang.llvm.org/docs/ThreadSafetyAnalysis.html. The mutexes to use them with are
// in base/mutex.h.
//
//   base::Mutex mutex_;
//   int count_ GPUPOOL_GUARDED_BY(mutex_) = 0;      // read and written only with mutex_ held
//   void add_locked() GPUPOOL_REQUIRES(mutex_);     // the caller holds mutex_
//   void add() GPUPOOL_EXCLUDES(mutex_);            // the caller must not hold mutex_
//
// A lambda is checked as a function of its own. The condition of a wait, which runs with the mutex held, says
// so:
//   changed_.wait(lock.native(), stop, [this]() GPUPOOL_REQUIRES(mutex_) { return count_ > 0; });

#if defined(__clang__)
#define GPUPOOL_THREAD_ATTRIBUTE(x) __attribute__((x))
#else
#define GPUPOOL_THREAD_ATTRIBUTE(x)
#endif

// Data. PT_: what a pointer points to, and not the pointer itself.
#define GPUPOOL_GUARDED_BY(mutex) GPUPOOL_THREAD_ATTRIBUTE(guarded_by(mutex))
#define GPUPOOL_PT_GUARDED_BY(mutex) GPUPOOL_THREAD_ATTRIBUTE(pt_guarded_by(mutex))
// The order in which one thread takes two mutexes; on the declaration of a mutex.
#define GPUPOOL_ACQUIRED_BEFORE(...) GPUPOOL_THREAD_ATTRIBUTE(acquired_before(__VA_ARGS__))
#define GPUPOOL_ACQUIRED_AFTER(...) GPUPOOL_THREAD_ATTRIBUTE(acquired_after(__VA_ARGS__))

// Functions: what the caller holds, or must not hold.
#define GPUPOOL_REQUIRES(...) GPUPOOL_THREAD_ATTRIBUTE(requires_capability(__VA_ARGS__))
#define GPUPOOL_REQUIRES_SHARED(...) GPUPOOL_THREAD_ATTRIBUTE(requires_shared_capability(__VA_ARGS__))
#define GPUPOOL_EXCLUDES(...) GPUPOOL_THREAD_ATTRIBUTE(locks_excluded(__VA_ARGS__))
// Functions that return with the mutex taken or given back, and those that return a mutex.
#define GPUPOOL_ACQUIRE(...) GPUPOOL_THREAD_ATTRIBUTE(acquire_capability(__VA_ARGS__))
#define GPUPOOL_ACQUIRE_SHARED(...) GPUPOOL_THREAD_ATTRIBUTE(acquire_shared_capability(__VA_ARGS__))
#define GPUPOOL_TRY_ACQUIRE(...) GPUPOOL_THREAD_ATTRIBUTE(try_acquire_capability(__VA_ARGS__))
#define GPUPOOL_RELEASE(...) GPUPOOL_THREAD_ATTRIBUTE(release_capability(__VA_ARGS__))
#define GPUPOOL_RELEASE_SHARED(...) GPUPOOL_THREAD_ATTRIBUTE(release_shared_capability(__VA_ARGS__))
#define GPUPOOL_RELEASE_GENERIC(...) GPUPOOL_THREAD_ATTRIBUTE(release_generic_capability(__VA_ARGS__))
#define GPUPOOL_RETURN_CAPABILITY(mutex) GPUPOOL_THREAD_ATTRIBUTE(lock_returned(mutex))
// The last resort: a function whose locking clang cannot follow. Say why in a comment.
#define GPUPOOL_NO_THREAD_SAFETY_ANALYSIS GPUPOOL_THREAD_ATTRIBUTE(no_thread_safety_analysis)

// Classes: a mutex, and a lock that holds one until the end of its scope.
#define GPUPOOL_CAPABILITY(name) GPUPOOL_THREAD_ATTRIBUTE(capability(name))
#define GPUPOOL_SCOPED_CAPABILITY GPUPOOL_THREAD_ATTRIBUTE(scoped_lockable)
