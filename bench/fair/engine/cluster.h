// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <set>
#include <vector>

#include "bench/fair/workload/job.h"

namespace gpupool::bench::fair {

// The GPUs and jobs at the present moment of a simulation. GPUs are counted; which node has which job is the
// business of the policy. Owned by the engine; not thread-safe.
class Cluster {
 public:
  enum class Phase { kFuture, kWaiting, kRunning, kDone };
  struct State {
    Phase phase = Phase::kFuture;
    Seconds since = 0;       // of the phase
    Seconds kept = 0;        // work that a checkpoint has saved
    Seconds held = 0;        // in earlier leases
    Seconds first_wait = 0;  // from arrival to the first start
    Seconds end = 0;         // of a done job
    int yields = 0;
    int starts = 0;
  };

  // REQUIRES: both outlive the cluster.
  Cluster(const Workload& workload, const Settings& settings);

  Seconds now() const { return now_; }
  const Workload& workload() const { return workload_; }
  const Job& job(JobId id) const { return workload_.jobs[id]; }
  const State& state(JobId id) const { return states_[id]; }
  std::int64_t free() const { return free_; }
  const std::set<JobId>& waiting() const { return waiting_; }  // in order of arrival
  const std::set<JobId>& running() const { return running_; }
  // GPUs of a tenant: held, and asked for by its waiting jobs.
  std::int64_t held(std::size_t tenant) const { return held_[tenant]; }
  std::int64_t wanted(std::size_t tenant) const { return wanted_[tenant]; }

  // The most that a job will hold its GPUs from its next start on; kNever if it declares no bound. What it
  // did and kept before counts; what it lost does not.
  Seconds bound_left(JobId id) const;
  // When a running job ends by its bound at the latest.
  Seconds until(JobId id) const;
  // When a running job works: after a restart, if it has run before.
  Seconds works_from(JobId id) const;
  // When a running job will end if nobody stops it. For the engine alone.
  Seconds end_of(JobId id) const;

  void set_now(Seconds now) { now_ = now; }
  void arrive(JobId id);
  void start(JobId id);  // REQUIRES: it waits, and its GPUs are free
  void yield(JobId id);  // REQUIRES: it runs. It waits again, without what it did since its last checkpoint.
  void finish(JobId id);

 private:
  void leave(JobId id);

  const Workload& workload_;
  Seconds restart_;
  Seconds now_ = 0;
  std::int64_t free_;
  std::vector<State> states_;
  std::vector<std::int64_t> held_;
  std::vector<std::int64_t> wanted_;
  std::set<JobId> waiting_;
  std::set<JobId> running_;
};

}  // namespace gpupool::bench::fair
