#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "api/meta/object_meta.h"
#include "api/v1alpha1/condition.h"
#include "api/v1alpha1/lease_value.h"

namespace gpupool::api {

// What each worker gets in a sharing pool: `count` slices, or the fewest that have this memory and these
// cores.
struct JobSlice {
  std::string memory;                 // a quantity; empty: any
  std::optional<std::int64_t> cores;  // percent of a GPU
  std::optional<std::int64_t> count;
};

// GpuJobSpec::node_replacement.
namespace node_replacement {
inline constexpr char kAllowed[] = "Allowed";
inline constexpr char kNever[] = "Never";
}  // namespace node_replacement

struct GpuJobSpec {
  std::string pool;
  std::int64_t gpus = 1;
  std::int64_t gpus_per_worker = 1;
  base::Boxed<JobSlice> slice;     // only in sharing pools; there, without it, a worker gets whole GPUs
  std::vector<std::string> nodes;  // exactly these; empty: gpupool chooses
  std::int64_t priority = 0;
  std::int64_t backoff_limit = 3;
  std::optional<std::int64_t> active_deadline_seconds;
  std::int64_t start_timeout_seconds = 600;
  std::optional<std::int64_t> ttl_seconds_after_finished;
  bool suspend = false;
  std::string node_replacement = node_replacement::kAllowed;
  base::json::RawJson pod_template;
};

struct NodeRef {
  std::string name;
  std::string uid;
  std::int64_t workers = 0;  // that have slices reserved on it; 0 in an exclusive lease
  bool operator==(const NodeRef&) const = default;
};

// A node that was replaced while its old processes may still run; tainted with `id` until they are known to
// have ended.
struct LostNode {
  std::string name;
  std::string uid;
  std::string id;
  bool operator==(const LostNode&) const = default;
};

// Design section 5. States and outcomes are strings in the API so that an older operator can show a newer
// one's.
namespace lease_state {
inline constexpr char kTaking[] = "Taking";
inline constexpr char kHeld[] = "Held";
inline constexpr char kRunning[] = "Running";
inline constexpr char kRestarting[] = "Restarting";
inline constexpr char kReleasing[] = "Releasing";
}  // namespace lease_state

// What a lease in Releasing ends in.
namespace outcome {
inline constexpr char kSucceeded[] = "Succeeded";
inline constexpr char kFailed[] = "Failed";
inline constexpr char kSuspended[] = "Suspended";
inline constexpr char kDeleted[] = "Deleted";
inline constexpr char kQueued[] = "Queued";  // nodes are given back, the job waits again
}  // namespace outcome

struct Lease {
  std::string id;  // a LeaseValue
  std::string state;
  std::int64_t attempt = 0;
  std::string spec_hash;
  std::int64_t slices = 0;  // of each worker; 0: whole nodes, exclusively
  std::vector<NodeRef> nodes;
  std::vector<LostNode> lost;
  std::string workload;                      // UID of the Job or StatefulSet that makes its workers' pods
  std::string outcome;                       // in Releasing
  std::optional<base::WallTime> since;       // when `state` was entered
  std::optional<base::WallTime> not_before;  // in Restarting: the attempt does not start sooner
  bool operator==(const Lease&) const = default;

  // Slices of nodes that others may use too: nothing is written on the nodes, the lease is the reservation.
  bool shared() const { return slices > 0; }
};

struct WorkerCounts {
  std::int64_t total = 0;
  std::int64_t running = 0;
  std::int64_t succeeded = 0;
  bool operator==(const WorkerCounts&) const = default;
};

namespace phase {
inline constexpr char kQueued[] = "Queued";
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
  std::string phase;
  std::vector<Condition> conditions;
  base::Boxed<Lease> lease;
  std::int64_t lease_sequence = 0;  // the last n used
  WorkerCounts workers;
  std::int64_t attempts = 0;            // begun so far
  std::int64_t failures = 0;            // of those, the ones charged to backoffLimit
  std::int64_t unexplained_losses = 0;  // of those, the ones lost for no reason that the cluster tells
  std::optional<base::WallTime> start_time;
  std::optional<base::WallTime> completion_time;
  std::string reason;
  std::string message;
  std::string node_names;  // for people: the nodes of the last lease, shortened
  std::string master;      // where rank 0 of the current attempt is reached
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

// Workers of a valid spec: one while gpus fit into gpusPerWorker, else gpus / gpusPerWorker.
std::int64_t worker_count(const GpuJobSpec& spec);
std::int64_t gpus_of_each_worker(const GpuJobSpec& spec);

// Tells whether pool, gpus, gpusPerWorker, slice, nodes or template changed (FNV-1a over them; 16 hex
// digits).
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
struct Schema<api::GpuJobSpec> {
  using T = api::GpuJobSpec;
  static constexpr auto fields = std::array{field<&T::pool>("pool"),
                                            field<&T::gpus>("gpus"),
                                            field<&T::gpus_per_worker>("gpusPerWorker"),
                                            field<&T::slice>("slice"),
                                            field<&T::nodes>("nodes"),
                                            field<&T::priority>("priority"),
                                            field<&T::backoff_limit>("backoffLimit"),
                                            field<&T::active_deadline_seconds>("activeDeadlineSeconds"),
                                            field<&T::start_timeout_seconds>("startTimeoutSeconds"),
                                            field<&T::ttl_seconds_after_finished>("ttlSecondsAfterFinished"),
                                            field<&T::suspend>("suspend"),
                                            field<&T::node_replacement>("nodeReplacement"),
                                            field<&T::pod_template>("template")};
};
template <>
struct Schema<api::NodeRef> {
  using T = api::NodeRef;
  static constexpr auto fields =
      std::array{field<&T::name>("name"), field<&T::uid>("uid"), field<&T::workers>("workers")};
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
                                            field<&T::nodes>("nodes"),
                                            field<&T::lost>("lost"),
                                            field<&T::workload>("workload"),
                                            field<&T::outcome>("outcome"),
                                            field<&T::since>("since"),
                                            field<&T::not_before>("notBefore")};
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
  static constexpr auto fields = std::array{field<&T::observed_generation>("observedGeneration"),
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
                                            field<&T::master>("master")};
};
template <>
struct Schema<api::GpuJob> {
  using T = api::GpuJob;
  static constexpr auto fields =
      std::array{field<&T::metadata>("metadata"), field<&T::spec>("spec"), field<&T::status>("status")};
};

}  // namespace gpupool::base::json
