#pragma once

#include <chrono>
#include <optional>
#include <set>
#include <string>

#include "planning/job_plan.h"

// The parts of plan_job, one for each stretch of a job's life. Private to planning/.
namespace gpupool::planning {

// job_plan_queued.cc: the job holds nothing.
Step plan_queued(const Observation& seen);
// job_plan_lease.cc: Taking, Held, Restarting.
Step plan_taking(const Observation& seen);
Step plan_held(const Observation& seen);
Step plan_restarting(const Observation& seen);
// job_plan_running.cc
Step plan_running(const Observation& seen);
// job_plan_release.cc: Releasing, and the nodes in lease.lost in any state.
Step plan_releasing(const Observation& seen);
std::optional<Step> plan_lost_nodes(const Observation& seen);
// Of a lease that waits for workers to end: goes on without nodes whose kubelet has not confirmed the end of
// a deleted pod long after its grace. They keep their marks until it does. Nothing if there are none.
std::optional<Step> leave_stuck_nodes(const Observation& seen);
// Deletes children and ends pods of every lease value but `keep`, and lets go those that may; nothing if
// there are none left for which that can be done now.
std::optional<Step> drop_stale_workers(const Observation& seen, const std::string& keep);
// The same, once in a pass, for a job that waits for nodes: what is left of its earlier leases holds it up no
// longer than that, because nodes are kept for it meanwhile.
std::optional<Step> drop_before_queue(const Observation& seen);
// Those of other values than `keep` that are over and have our finalizer.
Pods ended_pods(const Observation& seen, const std::string& keep);
// Whether pods of other values than `keep` may still run, other than on lost nodes.
bool stale_workers_run(const Observation& seen, const std::string& keep);

// A status write that gives the nodes back; `why` becomes reason and message.
Step release(const Observation& seen, const std::string& outcome, const Problem& why, bool warning);
// A status write with the lease in this state and phase.
Step advance(const Observation& seen, api::GpuJobStatus status, const std::string& state,
             const std::string& phase, const Problem& why, std::optional<Note> note);
// Suspend, a changed spec, a broken spec or a vanished pool end a lease that has no workers yet; the deadline
// ends every one.
std::optional<Step> interrupt_before_workers(const Observation& seen);
std::optional<Step> enforce_deadline(const Observation& seen);
// The next step when nothing but the end of workers, or a loss, is to be waited for. Tells people of pods
// that were deleted by force.
Step await_kubelets(const Observation& seen);

// job_plan_nodes.cc. Names of the lease's nodes:
// that are gone, were replaced under their name, or were not ready for longer than the pool allows;
std::set<std::string> lost_nodes(const Observation& seen);
// of those, the ones that the job does not wait for, and the ones that it does (spec.nodeReplacement);
std::set<std::string> given_up_nodes(const Observation& seen);
std::set<std::string> silent_nodes(const Observation& seen);
// that take no new workers;
std::set<std::string> cordoned_nodes(const Observation& seen);
// that a new attempt must not be on, or that it has to wait for.
std::set<std::string> nodes_to_leave(const Observation& seen);
std::set<std::string> nodes_to_await(const Observation& seen);
// When the next node that is not ready now will count as lost; nothing if there is none.
std::optional<base::Duration> until_next_loss(const Observation& seen);
// job_plan_restart.cc
// The next attempt of all workers, on other nodes where some cannot be used any more; to the queue if there
// are no others.
Step restart(const Observation& seen, api::GpuJobStatus status, const Problem& why);
Step restart_without(const Observation& seen, api::GpuJobStatus status, const std::set<std::string>& leaving,
                     const Problem& why);
// Goes on without nodes_to_leave(), after a live look at them; nothing if there are none.
std::optional<Step> leave_nodes(const Observation& seen);
// Says that the job waits for these nodes; nothing if there are none.
std::optional<Step> await_nodes(const Observation& seen, const std::set<std::string>& names);
// Between two attempts: takes those that replace lost ones, before the old workers have ended; nothing if
// there are none to take, or the lease will not come to its next attempt.
std::optional<Step> take_new_nodes(const Observation& seen);
// Adds the nodes of the lease with these names to its lost ones, which keep their taint.
void keep_as_lost(const Observation& seen, const std::set<std::string>& names, api::Lease& lease);
// For people: comma-separated, cut when long.
std::string join_names(const std::set<std::string>& names);

// Time left until `begin` + `seconds`; zero when it is over.
std::optional<base::Duration> time_left(const Observation& seen, const std::optional<base::WallTime>& begin,
                                        const std::optional<std::int64_t>& seconds);
// All nodes of the lease carry its value, as far as the cache shows; those of a shared lease need nothing.
bool nodes_carry(const Observation& seen);

}  // namespace gpupool::planning
