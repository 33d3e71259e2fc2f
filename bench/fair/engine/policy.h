// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bench/fair/engine/cluster.h"

namespace gpupool::bench::fair {

// What a policy may do. Both take effect at once: yielded GPUs are free for the next start.
class Actions {
 public:
  virtual const Cluster& cluster() const = 0;
  virtual void start(JobId id) = 0;
  virtual void yield(JobId id) = 0;
  // The policy says that the job will start no later. The first promise counts; kNever takes it back.
  virtual void promise(JobId id, Seconds latest) = 0;

 protected:
  Actions() = default;
  Actions(const Actions&) = default;
  Actions& operator=(const Actions&) = default;
  ~Actions() = default;
};

// Decides who starts and who yields. Not thread-safe. It may look at what a Job declares, and never at
// Job::seconds or Cluster::end_of().
class Policy {
 public:
  Policy() = default;
  Policy(const Policy&) = delete;
  Policy& operator=(const Policy&) = delete;
  virtual ~Policy() = default;

  virtual void arrived(JobId id) = 0;
  virtual void ended(JobId id) = 0;  // by itself
  // Called once after all changes of a moment.
  virtual void decide(Actions& actions) = 0;
  // When decide() has to be called even if nothing changes; kNever if it has not. Asked after decide().
  virtual Seconds wakes_at() const { return kNever; }
};

}  // namespace gpupool::bench::fair
