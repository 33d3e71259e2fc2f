// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "api/core/node.h"
#include "api/core/pod.h"
#include "api/v1alpha1/gpu_job.h"
#include "planning/workers/worker_result.h"

namespace gpupool::planning {

enum class WorkerState {
  kAbsent,   // no pod
  kPending,  // not started yet
  kRunning,
  kSucceeded,
  kCrashed,   // the program failed; charged
  kLost,      // evicted, deleted, preempted, node gone; not charged
  kUnproven,  // runs again, and nobody saw how it had ended; its launcher will repeat the result
};

// The message of a worker that starts, as far as its pod shows.
inline constexpr char kStarting[] = "starting";
inline constexpr char kFetching[] = "fetches its source";

// Of a success; a failure shows all that the launcher has kept. Each finished job costs so much memory.
inline constexpr std::size_t kMaxLastLines = 1024;

struct WorkerView {
  std::int64_t rank = 0;
  WorkerState state = WorkerState::kAbsent;
  std::string message;          // for people: why it is pending, crashed or lost
  std::string last_lines = {};  // what a command that has succeeded printed last; at most kMaxLastLines bytes
  // When the command of a crash, or of a worker that saves results, ended, by the clock of its node, as its
  // launcher says.
  std::optional<base::WallTime> finished_at = std::nullopt;
  bool follows = false;  // a crash that looks like the consequence of another worker's end
  bool placed = false;   // its pod is bound to a node
  // It does not start by itself: the scheduler finds no node for its pod, or its kubelet does not find what a
  // container refers to.
  bool stuck = false;
  bool refused = false;        // lost because the kubelet did not admit the pod: nothing of it ever ran
  bool saves_results = false;  // its command has ended, and the report of its results is missing
  // Only from views_of_workers(): how long a worker that saves results may still take.
  std::optional<base::Duration> saved_within = std::nullopt;
  bool unexplained = false;  // lost, and nothing in the pod says why: forgiven only a few times
  // As its launcher says, whatever the state: it was told to stop from outside the pod before its command
  // ended, and the command ended with code 0 after that.
  bool told = false;
  bool yielded = false;
};

// Returns the state of one worker (docs/protocol.md#outcomes). Reads only its pod; never conditions of a Job,
// never the restart count alone. Pure. The first that applies decides:
//
//   1. the launcher's result has exit code 0 and no stop signal   kSucceeded
//   2. the pod was not admitted, and would be refused again       kCrashed
//   3. the pod was not admitted, deleted, evicted or preempted    kLost
//   4. the launcher's result                                      kCrashed or kLost
//   5. the container ended without a result                       kCrashed or kLost
//   6. the container runs                                         kRunning, or kUnproven after a restart
//   7. an init container failed for good                          kCrashed
//   8. otherwise                                                  kPending
WorkerView assess_worker(const api::Pod& pod, const std::string& container, std::int64_t rank);

// Returns the result that the worker's launcher has left, also if the container was started again; nothing if
// there is none.
std::optional<WorkerResult> result_of_worker(const api::Pod& pod, const std::string& container);

// Returns the rank in the name of a StatefulSet's pod ("x-1-12" -> 12); 0 for pods of a Job.
std::int64_t rank_of(const api::Pod& pod);

// Returns all ranks of the lease value `id`, in order; ranks without a pod are kAbsent. If a rank has two
// pods (a Job controller before 1.26 replaces an evicted pod at once), the older one counts.
std::vector<WorkerView> assess_workers(const std::vector<std::shared_ptr<const api::Pod>>& pods,
                                       const std::string& id, std::int64_t workers,
                                       const std::string& container);

// Returns the pods of this lease value whose worker is kUnproven.
std::vector<std::shared_ptr<const api::Pod>> unproven_pods(
    const std::vector<std::shared_ptr<const api::Pod>>& pods, const std::string& id,
    const std::string& container);

}  // namespace gpupool::planning
