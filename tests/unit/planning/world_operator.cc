// The operator's side of the world: what each step does.
#include <algorithm>

#include "api/core/workload.h"
#include "api/v1alpha1/names.h"
#include "api/v1alpha1/reasons.h"
#include "api/v1alpha1/status_json.h"
#include "planning/assess_workers.h"
#include "planning/job_status.h"
#include "planning/manifests.h"
#include "planning/replace_nodes.h"
#include "tests/support/whole_queue.h"
#include "tests/unit/planning/builders.h"
#include "tests/unit/planning/world.h"

namespace gpupool::test {

namespace step = planning::step;
using std::chrono::seconds;

namespace {

constexpr int kMaxSteps = 60;

bool command_runs(const api::Pod& pod) {
  return !pod.status.container_statuses.empty() && pod.status.container_statuses[0].state.running.has_value();
}

}  // namespace

void World::operate() {
  try {
    Pass pass;
    for (int steps = 0; steps < kMaxSteps; ++steps) {
      if (!job_exists) return;
      const auto next = planning::plan_job(observe(pass));
      if (!std::visit([&](const auto& what) { return perform(pass, what); }, next)) return;
    }
    broken.emplace_back("a pass took too many steps in phase " + job.status.phase);
  } catch (const Crash&) {
    wrote_ = true;
    ends_ = {};
  }
}

planning::Observation World::observe(const Pass& pass) {
  planning::Observation seen{.job = job};
  seen.pool = pool ? &*pool : nullptr;
  const auto shown = pass.live ? live() : cached();
  seen.pods = shown.pods;
  seen.children = shown.children;
  std::erase_if(seen.children, [&](const auto& child) { return pass.dropped.contains(child.uid); });
  seen.node = [this](const std::string& name) -> std::shared_ptr<const api::Node> {
    const auto found = nodes.find(name);
    return found == nodes.end() ? nullptr : test::share(found->second);
  };
  seen.replace = [this](const std::vector<std::string>& kept) {
    return pool ? planning::replace_nodes(*pool, pool_nodes(), job, kept) : std::vector<api::NodeRef>();
  };
  seen.not_ready_for = [this](const api::Node& node) -> base::Duration {
    return std::chrono::duration_cast<base::Duration>(now - not_ready_since.at(node.metadata.name));
  };
  seen.maker_deleted = [this](const api::Pod& pod) { return ends_.has_deleted_maker_of(pod); };
  seen.worker_container = kWorker;
  seen.unproven_for = [this](const api::Pod& pod) -> base::Duration {
    return std::chrono::duration_cast<base::Duration>(
        now - unproven_since.try_emplace(pod.metadata.uid, now).first->second);
  };
  seen.now = now;
  seen.until_count = until_count;
  seen.live = pass.live;
  seen.end_shown = !seen.live && ends_.shown(job, seen.pods);
  seen.nodes_taken = pass.nodes_taken;
  seen.children_made = pass.children_made;
  seen.children_late = pass.children_late;
  seen.dropped = pass.dropped_all;
  seen.rehearsal = pass.rehearsal;
  seen.pod_rehearsal = pass.pod_rehearsal;
  seen.blocked = pass.blocked;
  if (planning::asks_for_nodes(seen)) seen.verdict = verdicts()[job.metadata.key()];
  return seen;
}

std::vector<planning::PoolNode> World::pool_nodes() const {
  std::set<std::string> leased;
  if (job.status.lease) {
    for (const auto& node : job.status.lease->nodes) leased.insert(node.name);
    for (const auto& node : job.status.lease->lost) leased.insert(node.name);
  }
  std::vector<planning::PoolNode> described;
  for (const auto& [name, node] : nodes) {
    described.push_back(planning::describe_node(node, kGpus));
    if (leased.contains(name)) described.back().leased = true;
  }
  return described;
}

std::vector<planning::SharedNode> World::shared_nodes() const {
  std::vector<planning::SharedNode> described;
  for (const auto& [name, node] : nodes) {
    planning::Occupants occupants;
    for (const auto& [pod_name, pod] : pods) {
      if (pod->spec.node_name == name && !planning::has_ended(*pod))
        occupants.pods.push_back({"ns", pod_name, job.spec.slice->count.value_or(1)});
    }
    described.push_back(planning::describe_shared_node(node, &reports.at(name), *pool, occupants));
  }
  return described;
}

std::map<api::ObjectKey, planning::Verdict> World::verdicts() const {
  if (pool->spec.sharing)
    return planning::plan_slices(*pool, shared_nodes(), test::line_of({test::share(job)}));
  return test::plan_queue(*pool, pool_nodes(), test::line_of({test::share(job)}));
}

void World::write(const std::function<void()>& effect) {
  ++writes;
  const std::optional<bool> asked = crash_now ? crash_now() : std::nullopt;
  const bool here = crash_at && crash_at->first == writes;
  const bool before = here ? !crash_at->second : asked == false;
  if (before) throw Crash{};
  effect();
  record();
  wrote_ = true;
  if (here || asked) throw Crash{};
}

void World::write_status(Pass& pass, const step::WriteStatus& what) {
  const std::string before = job.status.lease ? job.status.lease->id : "";
  if (shared() && (!what.status.lease || what.status.lease->nodes.empty())) {
    for (const auto& ref : job.status.lease->nodes) check_free(ref);
  }
  write([&] {
    // Through JSON, as the server keeps it: times lose their fractions.
    auto stored = base::json::read<api::GpuJob>(api::status_patch("1", what.status));
    if (!stored) {
      broken.push_back("unreadable status: " + stored.error().message);
      return;
    }
    job.status = std::move(stored->status);
    history.push_back(job.status);
    const std::string after = job.status.lease ? job.status.lease->id : "";
    if (!after.empty() && after != before && !lease_ids_.insert(after).second)
      broken.push_back("the lease value " + after + " was used twice");
    if (job.status.failures > job.spec.backoff_limit + 1) broken.emplace_back("too many charged attempts");
    const bool over = condition("Complete").status == "True" || condition("Failed").status == "True";
    if (over && !job.status.lease && !tainted().empty())
      broken.emplace_back("the job is over and a node is still taken");
  });
  const std::string after = job.status.lease ? job.status.lease->id : "";
  if (after != before) {
    pass.nodes_taken = pass.children_made = pass.children_late = pass.dropped_all = false;
    pass.rehearsal = pass.pod_rehearsal = {};
  }
  pass.blocked.reset();
  pass.live = false;
  if (what.note) events.push_back(what.note->reason);
}

bool World::perform(Pass& /*pass*/, const step::Idle& what) {
  idle_after_ = what.after;
  return false;
}

bool World::perform(Pass& /*pass*/, const step::AddFinalizer& /*what*/) {
  write([&] { job.metadata.finalizers.emplace_back(api::kLease); });
  return true;
}

bool World::perform(Pass& /*pass*/, const step::RemoveFinalizer& /*what*/) {
  write([&] {
    std::erase(job.metadata.finalizers, api::kLease);
    job_exists = !job.metadata.deleting() || !job.metadata.finalizers.empty();
    if (!job_exists && !tainted().empty()) broken.emplace_back("the job is gone and a node is still taken");
  });
  return false;
}

bool World::perform(Pass& pass, const step::WriteStatus& what) {
  write_status(pass, what);
  return true;
}

bool World::perform(Pass& pass, const step::TakeNodes& what) {
  const auto& lease = *job.status.lease;
  for (const auto& ref : what.only.empty() ? lease.nodes : what.only) {
    const auto found = nodes.find(ref.name);
    if (found == nodes.end() || found->second.metadata.uid != ref.uid) {
      pass.blocked = planning::Problem{api::reason::kNodeTaken, "node " + ref.name + " is gone"};
      return true;
    }
    auto& node = found->second;
    if (planning::carries_lease(node, lease.id)) continue;
    if (ref.name == taken_meanwhile) {
      node.spec.taints = {{api::kLease, "uid-other.1", api::kNoSchedule}};
      pass.blocked = planning::Problem{api::reason::kNodeTaken, "node " + ref.name + " is held"};
      return true;
    }
    write([&] {
      std::erase_if(node.spec.taints, [](const api::Taint& taint) { return taint.key == api::kLease; });
      node.spec.taints.push_back({api::kLease, lease.id, api::kNoSchedule});
      node.metadata.labels[api::kNodeLeaseLabel] = lease.id;
      node.metadata.annotations[api::kLease] = job.metadata.key().to_string();
    });
  }
  for (const auto& seen : what.let_go) let_go(*seen);
  pass.nodes_taken = what.only.empty();
  return true;
}

void World::create_child(const api::ResourceType& type) {
  const auto& id = job.status.lease->id;
  const auto name = planning::child_name(job, id);
  const auto key = std::string(type.kind) + "/" + name;
  if (children.contains(key)) return;
  for (const auto& ref : job.status.lease->nodes) {
    if (!shared() && !planning::carries_lease(nodes[ref.name], id))
      broken.push_back("children were made before node " + ref.name + " was taken");
  }
  write([&] {
    planning::Child child{&type, {"ns", name}, "uid-child-" + std::to_string(++next_uid_), id, false};
    attempts_[child.uid] = std::to_string(job.status.lease->attempt);
    replicas_[child.uid] = &type == &api::Service::kType ? 0 : api::worker_count(job.spec);
    children[key] = child;
  });
}

bool World::perform(Pass& pass, const step::CreateChildren& /*what*/) {
  if (children_blocked) {
    pass.blocked = children_blocked;
    return true;
  }
  if (late_children > 0) {
    --late_children;
    pass.children_late = true;
    return true;
  }
  const bool gang = planning::is_gang(job.spec);
  if (gang) create_child(api::Service::kType);
  create_child(gang ? api::StatefulSet::kType : api::BatchJob::kType);
  pass.children_made = true;
  return true;
}

bool World::perform(Pass& pass, const step::RestoreService& /*what*/) {
  create_child(api::Service::kType);
  pass.live = false;
  return true;
}

bool World::perform(Pass& pass, const step::DropWorkers& what) {
  for (const auto& child : what.children) {
    write([&] { std::erase_if(children, [&](const auto& entry) { return entry.second.uid == child.uid; }); });
    ends_.deleted(child);
    pass.dropped.insert(child.uid);
  }
  for (const auto& deletion : what.pods_to_delete) {
    write([&] {
      if (is_there(*deletion.pod)) delete_pod(deletion.pod->metadata.name);
    });
    if (!pass.live) ends_.deleted(*deletion.pod);
  }
  for (const auto& seen : what.let_go) let_go(*seen);
  idle_after_ = seconds(1);
  pass.dropped_all = true;
  return !what.waits;
}

// A StatefulSet may have made another one of its name.
bool World::is_there(const api::Pod& seen) const {
  const auto found = pods.find(seen.metadata.name);
  return found != pods.end() && found->second->metadata.uid == seen.metadata.uid;
}

void World::let_go(const api::Pod& seen) {
  const auto& name = seen.metadata.name;
  write([&] {
    if (!is_there(seen)) return;
    const auto found = pods.find(name);
    if (command_runs(*found->second) && nodes.contains(found->second->spec.node_name))
      broken.push_back("the finalizer of " + name + " was taken off while it runs");
    auto pod = *found->second;
    std::erase(pod.metadata.finalizers, api::kWorkerFinalizer);
    if (pod.metadata.deleting() && pod.metadata.deletion_grace_period_seconds == 0) {
      pods.erase(found);
    } else {
      found->second = test::share(std::move(pod));
    }
  });
}

void World::check_free(const api::NodeRef& ref) {
  for (const auto& [name, pod] : pods) {
    if (pod->spec.node_name == ref.name && command_runs(*pod))
      broken.push_back("node " + ref.name + " was given back while " + name + " runs on it");
  }
}

void World::free_node(const api::NodeRef& ref) {
  const auto found = nodes.find(ref.name);
  if (found == nodes.end() || found->second.metadata.uid != ref.uid) return;
  auto& node = found->second;
  const auto holder = api::parse_lease_value(planning::lease_taint(node));
  if (!holder || holder->job_uid != job.metadata.uid) return;
  check_free(ref);
  write([&] {
    std::erase_if(node.spec.taints, [](const api::Taint& taint) { return taint.key == api::kLease; });
    node.metadata.labels.erase(api::kNodeLeaseLabel);
    node.metadata.annotations.erase(api::kLease);
  });
}

bool World::perform(Pass& pass, const step::FreeNodes& what) {
  for (const auto& ref : what.nodes) free_node(ref);
  for (const auto& seen : what.let_go) {
    if (!seen->metadata.deleting()) {
      write([&] {
        if (is_there(*seen)) delete_pod(seen->metadata.name);
      });
    }
    let_go(*seen);
  }
  if (what.job_goes) {
    if (shared()) {
      for (const auto& ref : job.status.lease->nodes) check_free(ref);
    }
    return perform(pass, step::RemoveFinalizer{});
  }
  write_status(pass, what.then);
  return true;
}

bool World::perform(Pass& pass, const step::Rehearse& /*what*/) {
  pass.rehearsal = {true, children_blocked ? children_blocked : pods_blocked};
  return true;
}

bool World::perform(Pass& pass, const step::RehearsePod& /*what*/) {
  pass.pod_rehearsal = {true, pods_blocked};
  return true;
}

bool World::perform(Pass& pass, const step::LookLive& /*what*/) {
  if (pass.live) broken.emplace_back("looked live twice in a row");
  ++live_looks;
  pass.live = true;
  return true;
}

bool World::perform(Pass& /*pass*/, const step::DeleteJob& /*what*/) {
  write([&] { delete_job(); });
  return false;
}

}  // namespace gpupool::test
