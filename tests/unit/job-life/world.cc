// SPDX-License-Identifier: Apache-2.0
// The cluster in the world: controllers, scheduler, kubelets.
#include "tests/unit/job-life/world.h"

#include <algorithm>

#include "api/core/workload.h"
#include "api/v1alpha1/names.h"
#include "planning/job/job_status.h"
#include "planning/nodes/lease_marks.h"
#include "planning/workers/assess_workers.h"
#include "planning/workers/pod_end.h"
#include "tests/unit/planning/builders.h"

namespace gpupool::test {
namespace {

constexpr int kMaxRounds = 500;

bool is_workload(const planning::Child& child) { return child.type != &api::Service::kType; }

bool of_job(const api::Pod& pod) { return pod.metadata.owner_references.at(0).kind == "Job"; }

bool over(const api::Pod& pod) { return pod.status.phase == "Succeeded" || pod.status.phase == "Failed"; }

bool confirmed(const api::Pod& pod) {
  return pod.metadata.deleting() && pod.metadata.deletion_grace_period_seconds == 0;
}

}  // namespace

World::World(std::int64_t gpus, const std::vector<std::string>& node_names)
    : job(make_job("job", gpus)),
      pool(make_pool()),
      now(at(1000)),
      ending([](std::int64_t, std::int64_t) { return Ending::kSuccess; }) {
  for (const auto& name : node_names) nodes[name] = make_node(name);
}

void World::share(std::int64_t slices) {
  pool->spec.sharing.emplace();
  job.spec.slice = api::JobSlice{"", {}, slices};
  for (auto& [name, node] : nodes) {
    node = make_shared_member(name, 10);
    reports[name] = make_report(name, 1);
  }
}

bool World::run(const std::function<bool()>& done) {
  for (int round = 0; round < kMaxRounds; ++round) {
    wrote_ = false;
    idle_after_.reset();
    operate();
    if (done && done()) return true;
    const bool moved = turn();
    if (!wrote_ && !moved && !is_behind()) {
      if (!idle_after_) return !done;
      now += std::chrono::duration_cast<base::WallTime::duration>(*idle_after_);
    }
    now += pace;
  }
  return false;
}

bool World::turn() {
  bool moved = collect_garbage();
  if (sweep_pods()) moved = true;
  if (count_ends()) moved = true;
  if (make_pods()) moved = true;
  const auto before = pods;
  for (const auto& [name, pod] : before) {
    if (hesitate && hesitate()) {
      moved = true;
      continue;
    }
    auto copy = *pod;
    if (!move(copy)) continue;
    moved = true;
    stamp_ends(copy);
    if (confirmed(copy) && copy.metadata.finalizers.empty()) {
      pods.erase(name);
    } else {
      pods[name] = test::share(std::move(copy));
    }
    record();
  }
  return moved;
}

bool World::collect_garbage() {
  if (job_exists || children.empty()) return false;
  children.clear();
  succeeded.clear();
  kept.clear();
  return true;
}

// Plays the Job controller, which counts pods that have ended.
bool World::count_ends() {
  bool counted = false;
  const auto before = children;
  for (const auto& [key, child] : before) {
    if (child.type != &api::BatchJob::kType || child.ended) continue;
    const auto found = std::find_if(pods.begin(), pods.end(), [&](const auto& entry) {
      return entry.second->metadata.controller_uid() == child.uid && over(*entry.second);
    });
    if (found == pods.end()) continue;
    counted = true;
    if (late && late()) continue;
    children.at(key).ended = true;
    if (found->second->status.phase == "Succeeded") succeeded.insert(children.extract(key));
    record();
  }
  return counted;
}

// Plays the garbage collector, which deletes the pods of a job that is gone, and the operator's pod sweeper.
bool World::sweep_pods() {
  if (job_exists) return false;
  bool moved = false;
  const auto before = pods;
  for (const auto& [name, pod] : before) {
    if (!pod->metadata.deleting()) {
      delete_pod(name);
    } else if (planning::has_ended(*pod) && pod->metadata.has_finalizer(api::kWorkerFinalizer)) {
      release(*pod);
    } else {
      continue;
    }
    moved = true;
  }
  return moved;
}

void World::show_controllers() {
  for (const auto& [key, child] : children) {
    if (is_workload(child)) makers_.try_emplace(child.uid, child);
  }
  std::erase_if(makers_, [&](const auto& maker) {
    const bool gone = std::none_of(children.begin(), children.end(),
                                   [&](const auto& entry) { return entry.second.uid == maker.first; });
    return gone && !(late && late());
  });
}

bool World::make_pods() {
  show_controllers();
  bool moved = false;
  for (const auto& [uid, child] : makers_) {
    for (std::int64_t rank = 0; rank < replicas_[uid]; ++rank) {
      if (make_pod(child, rank)) moved = true;
    }
  }
  return moved;
}

bool World::make_pod(const planning::Child& child, std::int64_t rank) {
  const bool job_kind = child.type == &api::BatchJob::kType;
  const auto name = child.key.name + "-" + (job_kind ? "x7k2p" : std::to_string(rank));
  if (pods_blocked || pods.contains(name) || (job_kind && !made_.insert(child.uid).second)) return false;
  auto pod = test::make_pod(child.lease_id, rank);
  pod.metadata.name = name;
  pod.metadata.uid = "uid-pod-" + std::to_string(++next_uid_);
  pod.metadata.creation_timestamp = now;
  pod.metadata.owner_references = {{job_kind ? "Job" : "StatefulSet", child.key.name, child.uid, true}};
  pod.metadata.annotations[kAttempt] = attempts_.at(child.uid);
  pod.spec.node_name.clear();
  add_data_containers(pod);
  pods[name] = test::share(std::move(pod));
  return true;
}

bool World::kubelet_works(const std::string& node) const {
  return nodes.contains(node) && !silent_.contains(node);
}

bool World::move(api::Pod& pod) {
  if (pod.spec.node_name.empty() && !pod.metadata.deleting()) return schedule(pod);
  if (!pod.spec.node_name.empty() && !nodes.contains(pod.spec.node_name)) {  // the pod collector
    if (confirmed(pod)) return pod.metadata.finalizers.empty();
    pod = deleted_now(std::move(pod), 0);
    return true;
  }
  if (pod.metadata.deleting()) return shut_down(pod);
  if (!kubelet_works(pod.spec.node_name) || over(pod)) return false;
  auto& state = worker_of(pod).state;
  if (state.waiting) return start(pod);
  if ((state.terminated || held_.contains(pod.metadata.uid)) && save(pod)) return true;
  if (state.terminated && of_job(pod) && results_stuck) return false;
  if (state.terminated && of_job(pod)) {
    pod.status.phase = state.terminated->exit_code == 0 ? "Succeeded" : "Failed";
    return true;
  }
  if (state.terminated) {  // in a StatefulSet's pod the launcher waits after the end
    const auto result = state.terminated;
    pod = restarted(std::move(pod));
    held_[pod.metadata.uid] = result->message;
    if (forgetful) worker_of(pod).last_state = {};
    return true;
  }
  if (const auto held = held_.find(pod.metadata.uid); held != held_.end()) {
    if (worker_of(pod).last_state.terminated || forgetful) return false;
    pod = ended(std::move(pod), 0, held->second);  // the launcher ends again to repeat its result
    return true;
  }
  return end_command(pod);
}

bool World::has_place(const std::string& node, const api::Pod& pod) const {
  const auto id = pod.metadata.label(api::kLease);
  const auto used = std::count_if(pods.begin(), pods.end(), [&](const auto& entry) {
    return entry.second->spec.node_name == node && !planning::has_ended(*entry.second);
  });
  if (!shared()) return planning::carries_lease(nodes.at(node), id) && used == 0;
  for (const auto& ref : job.status.lease->nodes) {
    if (job.status.lease->id == id && ref.name == node) return used < ref.workers;
  }
  return false;
}

bool World::schedule(api::Pod& pod) {
  if (!scheduler_works) {
    if (scheduler_says.empty() || !pod.status.conditions.empty()) return false;
    pod.status.conditions.push_back({"PodScheduled", "False", "Unschedulable", scheduler_says});
    return true;
  }
  for (const auto& [name, node] : nodes) {
    if (!node.ready() || node.spec.unschedulable || !has_place(name, pod)) continue;
    pod.spec.node_name = name;
    pod.status.conditions.clear();
    pods[pod.metadata.name] = test::share(pod);
    return true;
  }
  return false;
}

bool World::start(api::Pod& pod) {
  if (volumes_missing) return false;
  if (image_gone) {
    auto& waiting = *worker_of(pod).state.waiting;
    return std::exchange(waiting.reason, "ErrImagePull") != "ErrImagePull";
  }
  if (shared() && refuse && refuse()) {
    pod.status.phase = "Failed";
    pod.status.reason = "UnexpectedAdmissionError";
    return true;
  }
  if (fetch(pod)) return true;
  pod = test::running(std::move(pod));
  check_start(pod);
  return true;
}

void World::check_start(const api::Pod& pod) {
  const auto id = pod.metadata.label(api::kLease);
  const auto rank = planning::rank_of(pod);
  if (++starts[{id, rank}] > 1)
    broken.push_back("rank " + std::to_string(rank) + " of " + id + " started twice");
  const auto attempt = pod.metadata.annotation(kAttempt);
  if (!attempts_seen_.insert({attempt, rank}).second)
    broken.push_back("rank " + std::to_string(rank) + " ran attempt " + attempt + " under two leases");
  check_place(pod);
  for (const auto& [name, other] : pods) {
    if (other->metadata.label(api::kLease) == id || !other->status.container_statuses.at(0).state.running)
      continue;
    if (kubelet_works(other->spec.node_name))
      broken.push_back("a worker of " + id + " started while " + name + " still runs");
  }
}

void World::check_place(const api::Pod& pod) {
  const auto id = pod.metadata.label(api::kLease);
  const auto& node = pod.spec.node_name;
  if (!shared()) {
    if (planning::lease_taint(nodes[node]) != id)
      broken.push_back("a worker of " + id + " started on a node that does not carry its lease");
    return;
  }
  const auto& refs = job.status.lease->nodes;
  if (std::none_of(refs.begin(), refs.end(), [&](const auto& ref) { return ref.name == node; }))
    broken.push_back("a worker of " + id + " started where nothing is reserved for it");
}

// A StatefulSet may have created another pod with this name.
bool World::is_there(const api::Pod& seen) const {
  const auto found = pods.find(seen.metadata.name);
  return found != pods.end() && found->second->metadata.uid == seen.metadata.uid;
}

bool World::end_command(api::Pod& pod) {
  const auto said = told(pod);  // before the pod is moved away
  switch (ending(std::stoll(pod.metadata.annotation(kAttempt)), planning::rank_of(pod))) {
    case Ending::kSuccess:
      pod = ended(std::move(pod), 0, exited_result(0, said));
      if (of_job(pod) && !phase_follows && !job.spec.results) pod.status.phase = "Succeeded";
      return true;
    case Ending::kCrash:
      pod = ended(std::move(pod), 1, exited_result(1, said));
      if (of_job(pod) && !phase_follows && !job.spec.results) pod.status.phase = "Failed";
      return true;
    case Ending::kDeleted:
      pod = deleted_now(std::move(pod));
      return true;
    case Ending::kEvicted:
      pod = ended(std::move(pod), 137);
      pod.status.phase = "Failed";
      pod.status.reason = "Evicted";
      return true;
    case Ending::kOutOfMemory:
      pod = ended(std::move(pod), 137, "", "OOMKilled");
      if (of_job(pod)) pod.status.phase = "Failed";
      return true;
    case Ending::kPreempted:
      pod.status.conditions.push_back({"DisruptionTarget", "True", "PreemptionByScheduler", ""});
      pod = deleted_now(std::move(pod));
      return true;
    case Ending::kRebooted:  // containers are dead, and nobody saw their end
      pod = ended(std::move(pod), 255, "", "Unknown");
      if (of_job(pod)) pod.status.phase = "Failed";
      return true;
    case Ending::kStopped:  // something on the machine stops it, without a visible cause
      pod = ended(std::move(pod), 143, exited_result(143, R"(,"stopSignal":15)"));
      if (of_job(pod)) pod.status.phase = "Failed";
      return true;
    case Ending::kYielded:
      pod = ended(std::move(pod), 0, exited_result(0, R"(,"stopSignal":15)" + said));
      if (of_job(pod)) pod.status.phase = "Succeeded";
      return true;
    case Ending::kNever:
      break;
  }
  return false;
}

bool World::shut_down(api::Pod& pod) {
  if (!pod.spec.node_name.empty() && !kubelet_works(pod.spec.node_name)) return false;
  if (confirmed(pod)) return pod.metadata.finalizers.empty();
  if (!worker_of(pod).state.terminated) {
    const auto phase = pod.status.phase;
    const auto held = held_.find(pod.metadata.uid);  // its command has ended long ago
    const auto code = held != held_.end() ? 0
                                          : exit_when_told(std::stoll(pod.metadata.annotation(kAttempt)),
                                                           planning::rank_of(pod));
    const auto said =
        held != held_.end() ? held->second : exited_result(code, R"(,"stopSignal":15)" + told(pod));
    pod = ended(std::move(pod), code, said);
    pod.status.phase = phase;
    return true;
  }
  if (save(pod)) return true;
  pod.metadata.deletion_grace_period_seconds = 0;
  return true;
}

api::Pod World::deleted_now(api::Pod pod, std::int64_t grace_seconds) const {
  pod = deleted(std::move(pod), grace_seconds);
  pod.metadata.deletion_timestamp = now + std::chrono::seconds(grace_seconds);
  return pod;
}

bool World::has_child(const std::string& kind) const {
  return std::any_of(children.begin(), children.end(),
                     [&](const auto& entry) { return entry.second.type->kind == kind; });
}

std::vector<planning::Child> World::children_at_work() const {
  std::vector<planning::Child> found;
  for (const auto& [key, child] : children) {
    if (!child.ended) found.push_back(child);
  }
  return found;
}

void World::change_spec(const std::function<void(api::GpuJobSpec&)>& change) {
  change(job.spec);
  ++job.metadata.generation;
}

std::vector<std::string> World::tainted() const {
  std::vector<std::string> names;
  for (const auto& [name, node] : nodes) {
    const bool label = node.metadata.labels.contains(api::kNodeLeaseLabel);
    if (!planning::lease_taint(node).empty() || label) names.push_back(name);
  }
  return names;
}

bool World::has_event(const std::string& reason) const {
  return std::find(events.begin(), events.end(), reason) != events.end();
}

const api::Condition& World::condition(const std::string& type) const {
  static const api::Condition kNone;
  const auto* found = api::find_condition(job.status.conditions, type);
  return found == nullptr ? kNone : *found;
}

}  // namespace gpupool::test
