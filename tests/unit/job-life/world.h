// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "controllers/gpujob/job_actions.h"
#include "controllers/gpujob/reconciler.h"
#include "planning/slices/shared_node.h"
#include "tests/unit/job-life/bill_audit.h"

// A cluster with one job, without I/O. The real GpuJobReconciler acts on plain objects, one API write at a
// time; simulated controllers and kubelets act in between. The world checks the promises
// (docs/protocol.md#promises) while it runs and records those that were broken.
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
  kYielded,  // something on the machine stops it, and it ends with code 0
  kNever
};

// Annotation of pods with the value of GPUPOOL_ATTEMPT.
inline constexpr char kAttempt[] = "attempt";

// Thrown when the operator crashes: its memory is lost.
struct Crash {};

class World {
 public:
  World(std::int64_t gpus, const std::vector<std::string>& node_names);

  // Makes the pool a sharing pool: each node has one GPU with ten slices, and each worker requests this
  // number.
  void share(std::int64_t slices);

  // Gives the pool prices, and two of its nodes owners. From then on the world audits the bill.
  void set_prices();

  // Operator and cluster act in turns until nothing changes or `done` returns true. Returns false if it never
  // comes to rest.
  bool run(const std::function<bool()>& done = nullptr);
  // The operator works until it is idle; a crash ends this.
  void operate();
  // One step of controllers, scheduler and kubelets. Returns false if nothing changed.
  bool turn();

  void lose_node(const std::string& name);     // its kubelet stops reporting
  void recover_node(const std::string& name);  // its kubelet reports again; its pods are unchanged
  void remove_node(const std::string& name);   // also deletes the Node object
  void cordon_node(const std::string& name, bool cordoned = true);
  void drain_node(const std::string& name, const std::string& until = "");
  void end_drain(const std::string& name);
  void ask_restart(const std::string& token);
  void delete_job();
  void delete_pod(const std::string& name);
  // Somebody changes the number of replicas of the workload.
  void scale(std::int64_t replicas);
  bool has_child(const std::string& kind) const;
  // Children that create pods.
  std::vector<planning::Child> children_at_work() const;
  // Freezes pods and children in the operator's cache, until it reads from the server.
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
  // Pods and succeeded Jobs that stay for their logs. The operator's caches do not show them.
  std::map<std::string, std::shared_ptr<const api::Pod>> kept;
  std::map<std::string, planning::Child> succeeded;
  base::WallTime now;
  std::chrono::milliseconds pace{100};                    // how long operator and cluster take to act once
  std::map<std::string, base::WallTime> not_ready_since;  // as the operator has seen it
  std::vector<std::shared_ptr<const api::GpuJob>> neighbours;  // hold nodes of the job too

  // Changes the answer of the queue.
  std::function<void(planning::Verdict&)> on_verdict;

  // How a rank's command ends; asked once for each pod that runs.
  std::function<Ending(std::int64_t attempt, std::int64_t rank)> ending;
  // More fields of the results of commands that end by themselves, as JSON after a comma.
  std::string more_result;
  // The exit code of a command that is told to stop.
  std::function<std::int64_t(std::int64_t attempt, std::int64_t rank)> exit_when_told =
      [](std::int64_t, std::int64_t) { return 143; };
  // The last report of a rank, as it stands in its file; empty: none.
  std::function<std::string(std::int64_t attempt, std::int64_t rank)> saved = [](std::int64_t, std::int64_t) {
    return std::string();
  };
  // What gpupool-carry reports of the source of a rank, and of its results; or kOutOfMemory.
  static constexpr char kOutOfMemory[] = "out of memory";
  std::function<std::string(std::int64_t rank)> source_report = [](std::int64_t) {
    return R"({"version":1,"bytes":7,"milliseconds":1500,"items":[{"path":"a","files":1,"bytes":7,"digest":"sha256:x"}]})";
  };
  std::string results_report =
      R"({"version":1,"items":[{"path":"/gpupool/work/out","to":"s3://b/x","state":"Complete","files":2,"bytes":9}]})";
  bool results_stuck = false;  // it reports nothing before the pod is deleted
  // While set, the creation of children fails with this problem.
  std::optional<api::Problem> children_blocked;
  // The server's answer to a dry run before the first lease.
  std::optional<api::Problem> refused_first;
  // The server's refusal of each pod; no pod is created.
  std::optional<api::Problem> pods_blocked;
  // What the kubelets say in Events about volumes.
  planning::MountTrouble mounts{.asked = true, .message = {}, .missing = false};
  int mounts_asked = 0;
  // Number of times that the creation of children fails without a known cause.
  int late_children = 0;
  planning::Funds funds;                    // of the account that pays
  std::optional<api::Problem> refuse_next;  // the answer to the next JobActions::admit
  // A node that another job holds when this job tries to take it.
  std::string taken_meanwhile;
  bool image_gone = false;       // no container can start
  bool volumes_missing = false;  // the same, and only Events tell (mounts)
  bool phase_follows =
      false;               // kubelets write a pod's phase after the end of its containers, as from 1.27 on
  bool forgetful = false;  // kubelets forget the end of a container when they restart it
  bool scheduler_works = true;
  std::string scheduler_says;  // if set, the scheduler places no pod and gives this message
  // Called before a worker of a shared lease starts. True: its kubelet does not admit it.
  std::function<bool()> refuse;
  // Called while a cache is behind. True: it shows nothing newer yet.
  std::function<bool()> lag;
  // Called while a controller has not yet seen a deletion. True: it does not see it yet.
  std::function<bool()> late;
  // Called before each action of a controller or kubelet. True: it is postponed.
  std::function<bool()> hesitate;

  // Crash before or after the write with this number (from 1).
  std::optional<std::pair<int, bool>> crash_at;
  // Called at each write; overrides crash_at.
  std::function<std::optional<bool>()> crash_now;

  int writes = 0;
  int live_looks = 0;
  std::vector<std::string> broken;  // descriptions of broken promises
  std::vector<std::string> events;  // reasons
  std::vector<api::GpuJobStatus> history;
  std::map<std::pair<std::string, std::int64_t>, int> starts;  // lease value, rank

 private:
  friend class WorldActions;
  struct Process;  // the operator and its memory

  std::vector<planning::PoolNode> pool_nodes() const;
  std::vector<planning::SharedNode> shared_nodes() const;
  std::map<api::ObjectKey, planning::Verdict> verdicts() const;
  void write(const std::function<void()>& effect);
  void write_status(const api::GpuJobStatus& status);
  base::Result<controllers::JobActions::Taken> take_node(const api::NodeRef& ref, const std::string& value);
  controllers::JobActions::Made create_children();
  void create_child(const api::ResourceType& type);
  void free_node(const api::NodeRef& ref);
  void release(const api::Pod& seen);
  bool is_there(const api::Pod& seen) const;
  bool collect_garbage();
  bool count_ends();
  bool sweep_pods();
  void show_controllers();
  bool make_pods();
  bool make_pod(const planning::Child& child, std::int64_t rank);
  // One change of a pod; false if nothing changes.
  bool move(api::Pod& pod);
  bool schedule(api::Pod& pod);
  bool has_place(const std::string& node, const api::Pod& pod) const;
  bool shared() const { return job.status.lease && job.status.lease->shared(); }
  bool start(api::Pod& pod);
  std::string told(const api::Pod& pod) const;  // of the result of a command that has ended now
  void add_data_containers(api::Pod& pod) const;
  // One step of gpupool-carry; false if it has nothing to do.
  bool fetch(api::Pod& pod);
  bool save(api::Pod& pod);
  bool end_command(api::Pod& pod);
  bool shut_down(api::Pod& pod);
  api::Pod deleted_now(api::Pod pod, std::int64_t grace_seconds = 30) const;
  bool kubelet_works(const std::string& node) const;
  void check_start(const api::Pod& pod);
  void check_place(const api::Pod& pod);
  void check_free(const api::NodeRef& ref);
  void stamp_ends(api::Pod& pod) const;  // of its containers
  void note_status();                    // in the history, and audits its bill

  std::optional<BillAudit> audit_;
  std::optional<base::Duration> idle_after_;
  std::set<std::string> silent_;                                  // nodes whose kubelet does nothing
  std::map<std::string, std::int64_t> replicas_;                  // by child UID
  std::map<std::string, std::string> attempts_;                   // value of GPUPOOL_ATTEMPT, by child UID
  std::set<std::pair<std::string, std::int64_t>> attempts_seen_;  // attempt, rank
  std::map<std::string, std::string> held_;        // results, by UID of pods whose launcher waits
  std::set<std::string> made_;                     // Jobs (UIDs) that have created their pod
  std::map<std::string, planning::Child> makers_;  // owners of pods, by UID, as their controllers see them
  std::set<std::string> lease_ids_;
  struct Cache {
    std::vector<std::shared_ptr<const api::Pod>> pods;
    std::vector<planning::Child> children;
  };
  Cache live() const;
  Cache shown_;  // the caches at the beginning of the current step
  // Its own writes that its cache does not show yet; in the memory of the process.
  std::set<std::string> deleted_children_;                                 // UIDs
  std::vector<std::pair<planning::Child, std::size_t>> created_children_;  // the state that shows the child
  std::optional<Cache> frozen_;
  // One watch of pods and one of children. Each shows every state in order and may be behind.
  void record();
  Cache cached();
  bool is_behind() const;  // true: it will show a change that wakes the operator
  std::vector<Cache> states_;
  std::size_t pods_shown_ = 0;
  std::size_t children_shown_ = 0;
  std::shared_ptr<Process> process_;  // null: not started; created by operate()
  bool looked_ = false;               // its last action was a read from the server
  bool wrote_ = false;
  int next_uid_ = 0;
};

}  // namespace gpupool::test
