// SPDX-License-Identifier: Apache-2.0
// The operator in the world: the real reconciler, and the implementation of its actions.
#include <algorithm>
#include <cstdlib>

#include "api/core/workload.h"
#include "api/v1alpha1/names.h"
#include "api/v1alpha1/reasons.h"
#include "api/v1alpha1/status_json.h"
#include "controllers/gpujob/reconciler.h"
#include "planning/forecast/explain.h"
#include "planning/job/job_status.h"
#include "planning/nodes/lease_marks.h"
#include "planning/queue/replace_nodes.h"
#include "planning/workers/manifests.h"
#include "planning/workers/pod_end.h"
#include "tests/unit/job-life/world.h"
#include "tests/unit/planning/builders.h"

namespace gpupool::test {

using controllers::JobActions;
using controllers::Ticket;

namespace {

constexpr int kMaxSteps = 40;

bool command_runs(const api::Pod& pod) {
  return !pod.status.container_statuses.empty() && pod.status.container_statuses[0].state.running.has_value();
}

// The world's time, also as steady time.
class WorldClock final : public base::Clock {
 public:
  explicit WorldClock(const World& world) : world_(world) {}
  base::SteadyTime now() const override {
    return base::SteadyTime(std::chrono::duration_cast<base::Duration>(world_.now.time_since_epoch()));
  }
  base::WallTime wall() const override { return world_.now; }
  bool wait(std::unique_lock<std::mutex>&, std::condition_variable_any&, std::stop_token,
            std::optional<base::SteadyTime>, const std::function<bool()>&) override {
    std::abort();  // nothing here runs on its own thread
  }

 private:
  const World& world_;
};

}  // namespace

// Caches and API server in one. Not thread-safe.
class WorldActions final : public JobActions, private Ticket::Issuer {
 public:
  explicit WorldActions(World& world) : world_(world) {}

  int observations = 0;

  Job job(const api::ObjectKey&) override {
    return world_.job_exists ? std::make_shared<const api::GpuJob>(world_.job) : nullptr;
  }
  std::shared_ptr<const api::GpuPool> pool(const std::string&) override {
    if (++observations > kMaxSteps)
      world_.broken.emplace_back("too many steps in phase " + world_.job.status.phase.string());
    return world_.pool ? std::make_shared<const api::GpuPool>(*world_.pool) : nullptr;
  }
  std::shared_ptr<const planning::TemplateFields> template_fields() override {
    return std::make_shared<const planning::TemplateFields>();
  }
  std::vector<std::string> pool_names() override {
    return world_.pool ? std::vector<std::string>{world_.pool->metadata.name} : std::vector<std::string>();
  }
  std::shared_ptr<const api::Node> node(const std::string& name) override {
    const auto found = world_.nodes.find(name);
    return found == world_.nodes.end() ? nullptr : test::share(found->second);
  }
  std::vector<Job> holders(const std::string&) override { return world_.neighbours; }
  std::shared_ptr<const api::GpuNode> report_of(const api::Node& node) override {
    const auto found = world_.reports.find(node.metadata.name);
    return found == world_.reports.end() ? nullptr : std::make_shared<const api::GpuNode>(found->second);
  }
  base::Duration not_ready_for(const api::Node& node) override {
    return std::chrono::duration_cast<base::Duration>(world_.now -
                                                      world_.not_ready_since.at(node.metadata.name));
  }
  planning::Pods workers(const api::GpuJob&) override {
    world_.shown_ = world_.cached();
    return world_.shown_.pods;
  }
  std::vector<planning::Child> children(const api::GpuJob&) override {
    auto children = world_.shown_.children;
    for (const auto& [child, state] : world_.created_children_) children.push_back(child);
    std::erase_if(children, [&](const auto& child) { return world_.deleted_children_.contains(child.uid); });
    return children;
  }
  planning::Pods watched_workers(const api::GpuJob&) override { return world_.shown_.pods; }
  base::Result<Live> read_live(const api::GpuJob&, std::stop_token) override {
    if (std::exchange(world_.looked_, true)) world_.broken.emplace_back("looked live twice in a row");
    ++world_.live_looks;
    auto live = world_.live();
    for (const auto& [key, child] : world_.succeeded) live.children.push_back(child);
    return Live{live.pods, live.children};
  }

  Ticket ask_queue(const api::GpuJob& job) override {
    auto verdict = world_.verdicts()[job.metadata.key()];
    if (world_.on_verdict) world_.on_verdict(verdict);
    return {*this, job.metadata.key(), verdict};
  }
  Ticket replace_nodes(const api::GpuJob& job, const std::vector<std::string>& kept) override {
    planning::Verdict verdict;
    if (world_.pool) verdict.nodes = planning::replace_nodes(*world_.pool, world_.pool_nodes(), job, kept);
    return {*this, job.metadata.key(), verdict};
  }
  planning::Funds funds(const api::GpuJob&) override { return world_.funds; }
  std::optional<api::Problem> admit(const api::GpuJob&, const api::GpuJobStatus&) override {
    return std::exchange(world_.refuse_next, std::nullopt);
  }
  void leave_queue(const api::ObjectKey&) override {}

  base::Result<Job> write_status(const api::GpuJob& job, const api::GpuJobStatus& status,
                                 std::stop_token) override {
    world_.write_status(status);
    return this->job(job.metadata.key());
  }
  base::Result<Job> add_finalizer(const api::GpuJob& job, std::stop_token) override {
    world_.write([&] { world_.job.metadata.finalizers.emplace_back(api::kLease); });
    return this->job(job.metadata.key());
  }
  base::Result<void> remove_finalizer(const api::GpuJob&, std::stop_token) override {
    if (world_.shared() && world_.job.status.lease) {
      for (const auto& ref : world_.job.status.lease->nodes) world_.check_free(ref);
    }
    world_.write([&] {
      std::erase(world_.job.metadata.finalizers, api::kLease);
      world_.job_exists = !world_.job.metadata.deleting() || !world_.job.metadata.finalizers.empty();
      if (!world_.job_exists && !world_.tainted().empty())
        world_.broken.emplace_back("the job is gone and a node is still taken");
    });
    return {};
  }
  base::Result<void> confirm(const api::GpuJob&, std::stop_token) override { return {}; }
  base::Result<void> delete_job(const api::GpuJob&, std::stop_token) override {
    world_.write([&] { world_.delete_job(); });
    return {};
  }

  base::Result<Taken> take_node(const api::GpuJob&, const api::NodeRef& ref, const api::LeaseValue& value,
                                std::stop_token) override {
    return world_.take_node(ref, value.to_string());
  }
  base::Result<void> free_node(const api::GpuJob&, const api::NodeRef& ref, std::stop_token) override {
    world_.free_node(ref);
    return {};
  }

  base::Result<Made> create_children(const api::GpuJob&, std::stop_token) override {
    return world_.create_children();
  }
  base::Result<Made> create_service(const api::GpuJob&, std::stop_token) override {
    world_.create_child(api::Service::kType);
    world_.looked_ = false;
    return Made{.complete = true};
  }
  base::Result<std::optional<api::Problem>> rehearse(const api::GpuJob&, std::stop_token) override {
    if (world_.refused_first) return world_.refused_first;
    return world_.children_blocked ? world_.children_blocked : world_.pods_blocked;
  }
  std::optional<base::Result<std::optional<api::Problem>>> rehearse_first(const api::GpuJob&,
                                                                          std::stop_token) override {
    return base::Result<std::optional<api::Problem>>(world_.refused_first);
  }
  base::Result<std::optional<api::Problem>> rehearse_pod(const api::GpuJob&, std::stop_token) override {
    return world_.pods_blocked;
  }
  base::Result<planning::MountTrouble> read_mount_trouble(const api::Pod&, std::stop_token) override {
    ++world_.mounts_asked;
    return world_.mounts;
  }
  base::Result<void> delete_child(const planning::Child& child, std::stop_token) override {
    world_.write([&] {
      const auto is_it = [&](const auto& entry) { return entry.second.uid == child.uid; };
      std::erase_if(world_.children, is_it);
      std::erase_if(world_.succeeded, is_it);
    });
    world_.deleted_children_.insert(child.uid);
    return {};
  }

  base::Result<void> delete_pod(const api::Pod& pod, bool, std::stop_token) override {
    world_.write([&] {
      if (world_.is_there(pod)) world_.delete_pod(pod.metadata.name);
    });
    return {};
  }
  base::Result<void> release_pod(const api::Pod& pod, std::stop_token) override {
    world_.release(pod);
    return {};
  }
  base::Result<void> nudge_pod(const api::Pod&, std::stop_token) override { return {}; }

  api::Explanation explain(const api::GpuJob& job) override {
    return {planning::request_of(job), world_.now};
  }
  void tell(const api::GpuJob&, const planning::Note& note) override {
    if (note.reason.empty()) world_.broken.emplace_back("an event without a reason");
    world_.events.push_back(note.reason);
  }
  void on_status(const api::GpuJob&, const api::GpuJobStatus&) override {}
  void on_marks_restored() override {}

 private:
  void end_ticket(const api::ObjectKey&) override {}

  World& world_;
};

struct World::Process {
  explicit Process(World& world) : clock(world), actions(world), reconciler(actions, clock) {}
  WorldClock clock;
  WorldActions actions;
  controllers::GpuJobReconciler reconciler;
};

void World::operate() {
  if (process_ == nullptr) process_ = std::make_shared<Process>(*this);
  process_->actions.observations = 0;
  looked_ = false;
  try {
    const auto done = process_->reconciler.reconcile(job.metadata.key(), base::Log::none(), {});
    if (!done) broken.push_back("a reconcile failed: " + done.error().message);
    if (done) idle_after_ = done->after;
  } catch (const Crash&) {
    wrote_ = true;
    process_.reset();
    deleted_children_.clear();
    created_children_.clear();
  }
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

void World::write_status(const api::GpuJobStatus& status) {
  looked_ = false;
  const std::string before = job.status.lease ? job.status.lease->id : "";
  if (shared() && (!status.lease || status.lease->nodes.empty())) {
    for (const auto& ref : job.status.lease->nodes) check_free(ref);
  }
  write([&] {
    // Converted through JSON, as on a server: times lose their fractions of a second.
    auto stored = base::json::read<api::GpuJob>(api::status_update({}, status));
    if (!stored) {
      broken.push_back("unreadable status: " + stored.error().message);
      return;
    }
    job.status = std::move(stored->status);
    note_status();
    if (job.status.reason.empty())
      broken.push_back("a status without a reason in phase " + job.status.phase.string());
    const std::string after = job.status.lease ? job.status.lease->id : "";
    if (!after.empty() && after != before && !lease_ids_.insert(after).second)
      broken.push_back("the lease value " + after + " was used twice");
    if (job.status.failures > job.spec.backoff_limit + 1) broken.emplace_back("too many charged attempts");
    const bool over = condition("Complete").status == "True" || condition("Failed").status == "True";
    if (over && !job.status.lease && !tainted().empty())
      broken.emplace_back("the job is over and a node is still taken");
  });
}

base::Result<JobActions::Taken> World::take_node(const api::NodeRef& ref, const std::string& value) {
  const auto refused = [](const std::string& text) {
    return JobActions::Taken{false, api::Problem{api::reason::kNodeTaken, text}};
  };
  const auto found = nodes.find(ref.name);
  if (found == nodes.end() || found->second.metadata.uid != ref.uid)
    return refused("node " + ref.name + " is gone");
  auto& node = found->second;
  if (planning::carries_lease(node, value)) return JobActions::Taken{};
  if (ref.name == taken_meanwhile) {
    node.spec.taints = {{api::kLease, "uid-other.1", api::kNoSchedule}};
    return refused("node " + ref.name + " is held");
  }
  write([&] {
    std::erase_if(node.spec.taints, [](const api::Taint& taint) { return taint.key == api::kLease; });
    node.spec.taints.push_back({api::kLease, value, api::kNoSchedule});
    node.metadata.labels[api::kNodeLeaseLabel] = value;
    node.metadata.annotations[api::kLease] = job.metadata.key().to_string();
  });
  return JobActions::Taken{.written = true};
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
  if (lag) created_children_.emplace_back(children.at(key), states_.size() - 1);
}

JobActions::Made World::create_children() {
  if (children_blocked) return {.problem = children_blocked};
  if (late_children > 0) {
    --late_children;
    return {.waits_for = "an older child"};
  }
  const bool gang = planning::is_gang(job.spec);
  if (gang) create_child(api::Service::kType);
  create_child(gang ? api::StatefulSet::kType : api::BatchJob::kType);
  return {.complete = true};
}

void World::release(const api::Pod& seen) {
  const auto& name = seen.metadata.name;
  write([&] {
    if (!is_there(seen)) return;
    const auto found = pods.find(name);
    if (command_runs(*found->second) && nodes.contains(found->second->spec.node_name))
      broken.push_back("the finalizer of " + name + " was taken off while it runs");
    auto pod = *found->second;
    std::erase(pod.metadata.finalizers, api::kWorkerFinalizer);
    if (!pod.metadata.deleting()) {
      for (const auto& child : children_at_work()) {
        if (child.uid == pod.metadata.controller_uid())
          broken.push_back(name + " was released before its Job had counted it");
      }
      kept[pod.metadata.uid] = test::share(std::move(pod));
      pods.erase(found);
    } else if (pod.metadata.deletion_grace_period_seconds == 0) {
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

}  // namespace gpupool::test
