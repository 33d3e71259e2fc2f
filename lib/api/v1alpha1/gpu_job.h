// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "api/meta/object_meta.h"
#include "api/v1alpha1/condition.h"
#include "api/v1alpha1/explanation.h"
#include "api/v1alpha1/gpu_pool.h"
#include "api/v1alpha1/job_checkpoint.h"
#include "api/v1alpha1/job_reports.h"
#include "api/v1alpha1/lease_value.h"
#include "api/v1alpha1/near.h"

namespace gpupool::api {

// The share of a GPU that each worker gets in a sharing pool: `count` slices, or the smallest number of
// slices that has this memory and these cores.
struct JobSlice {
  std::string memory;                 // a quantity; empty: any
  std::optional<std::int64_t> cores;  // percent of a GPU
  std::optional<std::int64_t> count;
};

// Values of GpuJobSpec::node_replacement.
namespace node_replacement {
inline constexpr char kAllowed[] = "Allowed";
inline constexpr char kNever[] = "Never";
}  // namespace node_replacement

// Values of GpuJobSpec::rendezvous.
namespace rendezvous {
inline constexpr char kMasterPort[] = "MasterPort";
inline constexpr char kNone[] = "None";
}  // namespace rendezvous

// Numbers that the program of rank 0 reports of itself.
struct JobMetrics {
  std::vector<std::string> names;
  std::string step_name;  // empty: step
  // Ascending steps. The launcher of rank 0 tells the values at each while the program runs
  // (lib/api/live_metrics_format.h). Empty: it does not listen.
  std::vector<std::int64_t> live_steps = {};
};

struct GpuJobSpec {
  std::string pool;
  std::int64_t gpus = 1;
  std::int64_t gpus_per_worker = 1;
  base::Boxed<JobSlice> slice;     // only in sharing pools; without it, a worker gets whole GPUs there
  std::vector<std::string> nodes;  // exactly these nodes; empty: gpupool chooses
  base::Boxed<Near> near;          // absent: as the pool says
  std::int64_t priority = 0;
  std::int64_t backoff_limit = 3;
  std::optional<std::int64_t> active_deadline_seconds;
  std::int64_t start_timeout_seconds = 600;
  std::optional<std::int64_t> ttl_seconds_after_finished;
  bool suspend = false;
  std::optional<bool> preemptible;  // whether it may be told to make room; absent: if it has a checkpoint
  base::Word node_replacement = node_replacement::kAllowed;
  base::Word rendezvous;                     // empty: MasterPort
  base::Boxed<JobMetrics> metrics;           // absent: nothing is read of what the program prints
  base::Boxed<base::json::RawJson> source;   // a JobSource (job_data.h)
  base::Boxed<base::json::RawJson> results;  // an array of JobResult (job_data.h)
  base::Boxed<JobCheckpoint> checkpoint;     // absent: the program is not told before it is stopped
  // With `nodes`: may replace those that are lost or drained, in this order.
  base::Boxed<std::vector<std::string>> backup_nodes;
  base::Boxed<std::string> max_price_per_gpu_hour;  // a decimal number; absent: any price
  base::json::RawJson pod_template;
};

struct NodeRef {
  std::string name;
  std::string uid;
  std::int64_t workers = 0;  // number of workers with slices reserved here; 0 in an exclusive lease
  std::optional<base::WallTime> since = {};  // when the job got it, if later than Lease::held_since
  bool operator==(const NodeRef&) const = default;
};

// A lost node of the lease. Its old processes may still run, so it keeps the taint with value `id` until they
// are known to have ended.
struct LostNode {
  std::string name;
  std::string uid;
  std::string id;
  bool operator==(const LostNode&) const = default;
};

// The states of a lease (docs/protocol.md#states). Each is written before the step that it announces. States
// and outcomes are strings, so that an operator can show those of a newer one.
//
//   state       means                                           next
//   Awaiting    other jobs make room; nothing is on the nodes    Taking, when no other lease names the nodes
//   Taking      nodes are chosen; some may carry the taint      take the other nodes, create the workers
//   Held        all nodes are taken; some children may exist    create the missing children
//   Running     all children have existed                       read the results of the workers
//   Restarting  the outcome of the attempt is written           end the old workers; the next attempt is Held
//   Releasing   the outcome of the lease is written             end the workers, give the nodes back
//
// A lease of one node may go from Taking to Running. A lease of slices begins with Held.
namespace lease_state {
inline constexpr char kAwaiting[] = "Awaiting";
inline constexpr char kTaking[] = "Taking";
inline constexpr char kHeld[] = "Held";
inline constexpr char kRunning[] = "Running";
inline constexpr char kRestarting[] = "Restarting";
inline constexpr char kReleasing[] = "Releasing";
}  // namespace lease_state

// What follows when a lease in Releasing ends.
namespace outcome {
inline constexpr char kSucceeded[] = "Succeeded";
inline constexpr char kFailed[] = "Failed";
inline constexpr char kSuspended[] = "Suspended";
inline constexpr char kDeleted[] = "Deleted";
inline constexpr char kQueued[] = "Queued";  // the job waits in the queue again
}  // namespace outcome

// What a lease in a pool with spec.queue has besides. Its fields are fields of the lease.
struct LeaseTurn {
  std::string tenant;                          // which had its turn
  std::vector<std::string> awaits;             // only in Awaiting: the UIDs of jobs that make room
  std::optional<base::WallTime> awaits_until;  // only in Awaiting: then the claim is given up
  bool operator==(const LeaseTurn&) const = default;
};

// No job waits for more jobs than this to make room.
inline constexpr std::size_t kMaxAwaited = 128;

struct Lease {
  std::string id;  // text of a LeaseValue
  base::Word state;
  std::int64_t attempt = 0;
  std::string spec_hash;
  std::int64_t slices = 0;  // of each worker, in `unit`; 0: an exclusive lease of whole nodes
  std::vector<NodeRef> nodes;
  std::vector<LostNode> lost;
  std::string workload;                    // UID of the Job or StatefulSet that creates the pods
  base::Word outcome;                      // only in Releasing
  std::optional<base::WallTime> since;     // when `state` was entered
  base::Boxed<base::WallTime> not_before;  // only in Restarting: earliest start of the next attempt
  base::Word unit = {};                    // sharing_unit::kGpu: `slices` are whole GPUs; empty: slices
  std::optional<base::WallTime> held_since = {};  // when the job got its nodes
  base::Boxed<LeaseTurn> turn = {};               // only in a pool with spec.queue
  bool operator==(const Lease&) const = default;

  // True for a lease of slices. Other jobs may use the same nodes; nothing is written on the nodes, and the
  // lease in the status is the reservation.
  bool shared() const { return slices > 0; }
  // True if workers have whole GPUs of nodes that they share.
  bool of_gpus() const { return shared() && unit == sharing_unit::kGpu; }
};

struct WorkerCounts {
  std::int64_t total = 0;
  std::int64_t running = 0;
  std::int64_t succeeded = 0;
  bool operator==(const WorkerCounts&) const = default;
};

namespace phase {
inline constexpr char kQueued[] = "Queued";
inline constexpr char kInvalid[] = "Invalid";  // waits until a person corrects something
inline constexpr char kStarting[] = "Starting";
inline constexpr char kRunning[] = "Running";
inline constexpr char kRestarting[] = "Restarting";
inline constexpr char kReleasing[] = "Releasing";
inline constexpr char kSuspended[] = "Suspended";
inline constexpr char kSucceeded[] = "Succeeded";
inline constexpr char kFailed[] = "Failed";
}  // namespace phase

struct GpuJobStatus {
  std::int64_t observed_generation = 0;
  base::Word phase;
  std::vector<Condition> conditions;
  base::Boxed<Lease> lease;
  std::int64_t lease_sequence = 0;  // the n of the last LeaseValue
  WorkerCounts workers;
  std::int64_t attempts = 0;            // number of attempts begun
  std::int64_t failures = 0;            // attempts that count against backoffLimit
  std::int64_t unexplained_losses = 0;  // attempts lost without a visible cause
  std::optional<base::WallTime> start_time;
  std::optional<base::WallTime> completion_time;
  std::string reason;
  std::string message;
  std::string node_names;                // the nodes that it holds, or held at its end; shortened; for people
  std::string master;                    // host name of rank 0 of the current attempt
  base::Word gpus;                       // what the job asks for; for people
  base::Boxed<Explanation> explanation;  // only if somebody has asked (kExplain)
  base::Boxed<JobMetricsStatus> metrics;  // only with spec.metrics
  base::Boxed<JobSourceStatus> source;    // only with spec.source
  base::Boxed<JobResultsStatus> results;  // only with spec.results
  base::Boxed<JobProgress> progress;      // only if one of its fields is set
  const JobBill* bill() const { return progress && progress->bill ? &*progress->bill : nullptr; }
  bool operator==(const GpuJobStatus&) const = default;
};

struct GpuJob {
  static constexpr ResourceType kType{"gpupool.dev", "v1alpha1", "gpujobs", "GpuJob", true};
  ObjectMeta metadata;
  GpuJobSpec spec;
  GpuJobStatus status;

  bool finished() const {
    return !status.lease && (status.phase == phase::kSucceeded || status.phase == phase::kFailed);
  }
};

// Number of workers of a valid spec: 1 if gpus <= gpusPerWorker, else gpus / gpusPerWorker.
std::int64_t worker_count(const GpuJobSpec& spec);
std::int64_t gpus_of_each_worker(const GpuJobSpec& spec);
// True if ranks above 0 start their command only when rank 0 listens on the master port: several workers, and
// rendezvous is not None.
bool waits_for_rank_0(const GpuJobSpec& spec);

// Returns a hash of pool, gpus, gpusPerWorker, slice, nodes, rendezvous, source, results and template
// (FNV-1a, 16 hex digits), to detect that one of them has changed. What is absent adds nothing to it, nor
// does the rendezvous MasterPort.
std::string spec_hash(const GpuJobSpec& spec);

}  // namespace gpupool::api

namespace gpupool::base::json {

template <>
struct Schema<api::JobSlice> {
  using T = api::JobSlice;
  static constexpr auto fields =
      std::array{field<&T::memory>("memory"), field<&T::cores>("cores"), field<&T::count>("count")};
};
template <>
struct Schema<api::JobMetrics> {
  using T = api::JobMetrics;
  static constexpr auto fields = std::array{field<&T::names>("names"), field<&T::step_name>("stepName"),
                                            field<&T::live_steps>("liveSteps")};
};
template <>
struct Schema<api::GpuJobSpec> {
  using T = api::GpuJobSpec;
  static constexpr auto fields = std::array{field<&T::pool>("pool"),
                                            field<&T::gpus>("gpus"),
                                            field<&T::gpus_per_worker>("gpusPerWorker"),
                                            field<&T::slice>("slice"),
                                            field<&T::nodes>("nodes"),
                                            field<&T::near>("near"),
                                            field<&T::priority>("priority"),
                                            field<&T::backoff_limit>("backoffLimit"),
                                            field<&T::active_deadline_seconds>("activeDeadlineSeconds"),
                                            field<&T::start_timeout_seconds>("startTimeoutSeconds"),
                                            field<&T::ttl_seconds_after_finished>("ttlSecondsAfterFinished"),
                                            field<&T::suspend>("suspend"),
                                            field<&T::preemptible>("preemptible"),
                                            field<&T::node_replacement>("nodeReplacement"),
                                            field<&T::rendezvous>("rendezvous"),
                                            field<&T::metrics>("metrics"),
                                            field<&T::source>("source"),
                                            field<&T::results>("results"),
                                            field<&T::checkpoint>("checkpoint"),
                                            field<&T::backup_nodes>("backupNodes"),
                                            field<&T::max_price_per_gpu_hour>("maxPricePerGpuHour"),
                                            field<&T::pod_template>("template")};
};
template <>
struct Schema<api::NodeRef> {
  using T = api::NodeRef;
  static constexpr auto fields = std::array{field<&T::name>("name"), field<&T::uid>("uid"),
                                            field<&T::workers>("workers"), field<&T::since>("since")};
};
template <>
struct Schema<api::LostNode> {
  using T = api::LostNode;
  static constexpr auto fields =
      std::array{field<&T::name>("name"), field<&T::uid>("uid"), field<&T::id>("id")};
};
template <>
struct Schema<api::Lease> {
  using T = api::Lease;
  static constexpr auto fields = std::array{field<&T::id>("id"),
                                            field<&T::state>("state"),
                                            field<&T::attempt>("attempt"),
                                            field<&T::spec_hash>("specHash"),
                                            field<&T::slices>("slices"),
                                            field<&T::unit>("unit"),
                                            field<&T::nodes>("nodes"),
                                            field<&T::lost>("lost"),
                                            field<&T::workload>("workload"),
                                            field<&T::outcome>("outcome"),
                                            field<&T::since>("since"),
                                            field<&T::not_before>("notBefore"),
                                            field<&T::held_since>("heldSince"),
                                            field<&T::turn, &api::LeaseTurn::tenant>("tenant"),
                                            field<&T::turn, &api::LeaseTurn::awaits>("awaits"),
                                            field<&T::turn, &api::LeaseTurn::awaits_until>("awaitsUntil")};
};
template <>
struct Schema<api::WorkerCounts> {
  using T = api::WorkerCounts;
  static constexpr auto fields =
      std::array{field<&T::total>("total"), field<&T::running>("running"), field<&T::succeeded>("succeeded")};
};
template <>
struct Schema<api::GpuJobStatus> {
  using T = api::GpuJobStatus;
  static constexpr auto fields =
      std::array{field<&T::observed_generation>("observedGeneration"),
                 field<&T::phase>("phase"),
                 field<&T::conditions>("conditions"),
                 field<&T::lease>("lease"),
                 field<&T::lease_sequence>("leaseSequence"),
                 field<&T::workers>("workers"),
                 field<&T::attempts>("attempts"),
                 field<&T::failures>("failures"),
                 field<&T::unexplained_losses>("unexplainedLosses"),
                 field<&T::start_time>("startTime"),
                 field<&T::completion_time>("completionTime"),
                 field<&T::reason>("reason"),
                 field<&T::message>("message"),
                 field<&T::node_names>("nodeNames"),
                 field<&T::master>("master"),
                 field<&T::gpus>("gpus"),
                 field<&T::explanation>("explanation"),
                 field<&T::metrics>("metrics"),
                 field<&T::source>("source"),
                 field<&T::results>("results"),
                 field<&T::progress, &api::JobProgress::active_seconds>("activeSeconds"),
                 field<&T::progress, &api::JobProgress::checkpoint>("checkpoint"),
                 field<&T::progress, &api::JobProgress::restarted>("restarted"),
                 field<&T::progress, &api::JobProgress::history>("history"),
                 field<&T::progress, &api::JobProgress::yields>("yields"),
                 field<&T::progress, &api::JobProgress::queue>("queue"),
                 field<&T::progress, &api::JobProgress::bill>("bill")};
};
template <>
struct Schema<api::GpuJob> {
  using T = api::GpuJob;
  static constexpr auto fields =
      std::array{field<&T::metadata>("metadata"), field<&T::spec>("spec"), field<&T::status>("status")};
};

}  // namespace gpupool::base::json
