#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "planning/job_plan.h"
#include "planning/lease_ends.h"
#include "planning/shared_node.h"

// A cluster with one job, without I/O: plan_job's steps are carried out on plain objects, one API write at a
// time, and the controllers and kubelets act in between. It checks the promises while it runs and keeps a
// list of what was broken.
namespace gpupool::test {

enum class Ending {
  kSuccess,
  kCrash,
  kOutOfMemory,
  kDeleted,
  kEvicted,
  kPreempted,
  kRebooted,
  kStopped,
  kNever
};

// The operator died: whatever it had in memory is gone.
struct Crash {};

class World {
 public:
  World(std::int64_t gpus, const std::vector<std::string>& node_names);

  // Makes the pool a sharing one: nodes with one GPU in ten slices, of which each worker wants so many.
  void share(std::int64_t slices);

  // Lets operator and cluster act in turns until nothing moves any more or `done` holds. False if it never
  // came to rest.
  bool run(const std::function<bool()>& done = nullptr);
  // The operator works until it is idle; a crash ends its turn.
  void operate();
  // One step of controllers, scheduler and kubelets. False if nothing changed.
  bool turn();

  void lose_node(const std::string& name);     // its kubelet is not heard from any more
  void recover_node(const std::string& name);  // it comes back, with its pods as they were
  void remove_node(const std::string& name);   // the Node object goes too
  void cordon_node(const std::string& name, bool cordoned = true);
  void delete_job();
  void delete_pod(const std::string& name);
  // Somebody changes how many pods the workload has.
  void scale(std::int64_t replicas);
  bool has_child(const std::string& kind) const;
  // From now on the operator's cache shows pods and children as they are now, until it looks live.
  void freeze_cache();
  void change_spec(const std::function<void(api::GpuJobSpec&)>& change);

  std::vector<std::string> tainted() const;
  bool running() const { return job.status.phase == api::phase::kRunning; }
  bool has_event(const std::string& reason) const;
  const api::Condition& condition(const std::string& type) const;

  api::GpuJob job;
  bool job_exists = true;
  std::optional<api::GpuPool> pool;
  std::map<std::string, api::Node> nodes;
  std::map<std::string, api::GpuNode> reports;
  std::map<std::string, std::shared_ptr<const api::Pod>> pods;
  std::map<std::string, planning::Child> children;
  base::WallTime now;
  std::map<std::string, base::WallTime> not_ready_since;  // as the operator has seen it
  std::map<std::string, base::WallTime> unproven_since;   // pods, likewise

  // How a rank's command ends; asked once for each pod that runs.
  std::function<Ending(std::int64_t attempt, std::int64_t rank)> ending;
  // A problem that the creation of children meets, while it is set.
  std::optional<planning::Problem> children_blocked;
  // What the server says to each pod; none is made.
  std::optional<planning::Problem> pods_blocked;
  // How often their creation comes to nothing, for no reason that is known.
  int late_children = 0;
  // How long the operator has yet to wait before it counts workers that have ended.
  base::Duration until_count = base::Duration::zero();
  // A node that another job turns out to hold when this one tries to take it.
  std::string taken_meanwhile;
  bool image_gone = false;  // no container can start any more
  bool forgetful = false;   // kubelets forget how a container ended as soon as they start it again
  bool scheduler_works = true;
  std::string scheduler_says;  // about pods that it finds no place for, while it does not work
  // Asked before a worker of a shared lease starts: true, and its kubelet does not admit it.
  std::function<bool()> refuse;
  // Asked while a cache is behind: true, and it shows nothing newer for now.
  std::function<bool()> lag;
  // Asked while the controller of something that was deleted has yet to see it: true, and it does not yet.
  std::function<bool()> late;
  // Asked before everything a controller or kubelet does: true puts it off.
  std::function<bool()> hesitate;

  // Crash before or after the write with this number (from 1).
  std::optional<std::pair<int, bool>> crash_at;
  // Asked at every write; overrides crash_at where set.
  std::function<std::optional<bool>()> crash_now;

  int writes = 0;
  int live_looks = 0;
  std::vector<std::string> broken;  // promises, in words
  std::vector<std::string> events;  // reasons
  std::vector<api::GpuJobStatus> history;
  std::map<std::pair<std::string, std::int64_t>, int> starts;  // lease value, rank

 private:
  struct Pass {
    bool live = false;
    bool nodes_taken = false;
    bool children_made = false;
    bool children_late = false;
    bool dropped_all = false;
    planning::Rehearsal rehearsal;
    planning::Rehearsal pod_rehearsal;
    std::optional<planning::Problem> blocked;
    std::set<std::string> dropped = {};  // UIDs of children: remembered for as long as a pass takes
  };

  planning::Observation observe(const Pass& pass);
  std::vector<planning::PoolNode> pool_nodes() const;
  std::vector<planning::SharedNode> shared_nodes() const;
  std::map<api::ObjectKey, planning::Verdict> verdicts() const;
  void write(const std::function<void()>& effect);
  void write_status(Pass& pass, const planning::step::WriteStatus& what);
  // Each returns false when the pass is over.
  bool perform(Pass& pass, const planning::step::Idle& what);
  bool perform(Pass& pass, const planning::step::AddFinalizer& what);
  bool perform(Pass& pass, const planning::step::RemoveFinalizer& what);
  bool perform(Pass& pass, const planning::step::WriteStatus& what);
  bool perform(Pass& pass, const planning::step::TakeNodes& what);
  bool perform(Pass& pass, const planning::step::CreateChildren& what);
  bool perform(Pass& pass, const planning::step::RestoreService& what);
  bool perform(Pass& pass, const planning::step::DropWorkers& what);
  bool perform(Pass& pass, const planning::step::FreeNodes& what);
  bool perform(Pass& pass, const planning::step::Rehearse& what);
  bool perform(Pass& pass, const planning::step::RehearsePod& what);
  bool perform(Pass& pass, const planning::step::LookLive& what);
  bool perform(Pass& pass, const planning::step::DeleteJob& what);

  void create_child(const api::ResourceType& type);
  void free_node(const api::NodeRef& ref);
  void let_go(const api::Pod& seen);
  bool is_there(const api::Pod& seen) const;
  bool collect_garbage();
  bool sweep_pods();
  void show_controllers();
  bool make_pods();
  bool make_pod(const planning::Child& child, std::int64_t rank);
  // One thing that happens to a pod; false if nothing does.
  bool move(api::Pod& pod);
  bool schedule(api::Pod& pod);
  bool has_place(const std::string& node, const api::Pod& pod) const;
  bool shared() const { return job.status.lease && job.status.lease->shared(); }
  bool start(api::Pod& pod);
  bool end_command(api::Pod& pod);
  bool shut_down(api::Pod& pod);
  api::Pod deleted_now(api::Pod pod, std::int64_t grace_seconds = 30) const;
  bool kubelet_works(const std::string& node) const;
  void check_start(const api::Pod& pod);
  void check_place(const api::Pod& pod);
  void check_free(const api::NodeRef& ref);

  std::optional<base::Duration> idle_after_;
  std::set<std::string> silent_;                                  // nodes whose kubelet does nothing
  std::map<std::string, std::int64_t> replicas_;                  // by child UID
  std::map<std::string, std::string> attempts_;                   // what GPUPOOL_ATTEMPT says, by child UID
  std::set<std::pair<std::string, std::int64_t>> attempts_seen_;  // attempt, rank
  std::map<std::string, std::string> held_;                       // results, by UID of pods that hold
  std::set<std::string> made_;                                    // Jobs (UIDs) that have made their pod
  std::map<std::string, planning::Child> makers_;  // of pods, by UID, as their controllers see them
  std::set<std::string> lease_ids_;
  struct Cache {
    std::vector<std::shared_ptr<const api::Pod>> pods;
    std::vector<planning::Child> children;
  };
  Cache live() const;
  std::optional<Cache> frozen_;
  // A watch of pods, and one of children: each shows every state there was, in order, and may be behind.
  void record();
  Cache cached();
  bool is_behind() const;  // what it has yet to show will wake the operator
  std::vector<Cache> states_;
  std::size_t pods_shown_ = 0;
  std::size_t children_shown_ = 0;
  planning::LeaseEnds ends_;  // of this life of the operator
  bool wrote_ = false;
  int next_uid_ = 0;
};

}  // namespace gpupool::test
