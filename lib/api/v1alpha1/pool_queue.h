// SPDX-License-Identifier: Apache-2.0
// Whose turn it is in the queue of a pool (docs/queue.md).
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/boxed.h"
#include "base/clock.h"
#include "base/json.h"
#include "base/word.h"

namespace gpupool::api {

// A group of namespaces that has its turn together.
struct QueueTenant {
  std::string name;
  std::vector<std::string> namespaces;  // exact names, or a beginning followed by *
  std::int64_t weight = 1;
  std::int64_t guaranteed = 0;               // GPUs
  std::optional<std::int64_t> limit;         // GPUs; absent: none
  std::optional<std::int64_t> max_priority;  // higher priorities of its jobs count as this one; absent: any
  bool operator==(const QueueTenant&) const = default;
};

// Values of QueueOthers::mode.
namespace others_mode {
inline constexpr char kEachNamespace[] = "EachNamespace";  // each is a tenant of its own
inline constexpr char kTogether[] = "Together";            // all are one tenant
inline constexpr char kRefused[] = "Refused";              // their jobs never start
}  // namespace others_mode

// The namespaces that are of no tenant.
struct QueueOthers {
  base::Word mode;  // empty: EachNamespace
  std::int64_t weight = 1;
  std::optional<std::int64_t> limit;  // GPUs of each tenant; absent: none
  bool operator==(const QueueOthers&) const = default;
};

// Values of PoolQueueSpec::order.
namespace queue_order {
inline constexpr char kResponseRatio[] = "ResponseRatio";
inline constexpr char kOldestFirst[] = "OldestFirst";
}  // namespace queue_order

// What a GPU of this model counts.
struct ModelRate {
  std::string model;
  std::int64_t percent = 100;
  bool operator==(const ModelRate&) const = default;
};

// Who makes room for whom. The workers of a job that makes room are told to stop; it goes on later.
struct QueueYield {
  bool to_guarantee = true;                   // for jobs within the guarantee of their tenant
  bool to_priority = true;                    // for jobs of the same tenant with a higher priority
  bool to_share = false;                      // for tenants that have had less than their share
  std::int64_t min_run_seconds = 600;         // so long it runs first; twice as long after each yield
  std::int64_t share_min_run_seconds = 3600;  // the same, for to_share
  std::int64_t patience_seconds = 1800;       // for to_share: so long the other job has waited
  std::int64_t margin_percent = 25;           // for to_share: so much less the other tenant has then
  bool operator==(const QueueYield&) const = default;
};

inline constexpr std::int64_t kDefaultHalfLifeSeconds = 604'800;
inline constexpr std::int64_t kDefaultAssumedSeconds = 86'400;

// spec.queue: tenants take turns. Absent: the first that comes is the first to start.
struct PoolQueueSpec {
  std::int64_t half_life_seconds = kDefaultHalfLifeSeconds;  // of past use
  std::vector<QueueTenant> tenants;                          // a namespace belongs to the first that names it
  base::Boxed<QueueOthers> others;                           // absent: EachNamespace
  base::Word order;                                          // within a tenant; empty: ResponseRatio
  std::int64_t assumed_seconds =
      kDefaultAssumedSeconds;  // of jobs without activeDeadlineSeconds, for the order
  bool backfill = true;
  base::Boxed<QueueYield> yield;  // absent: the defaults
  std::vector<ModelRate> rates;   // models that are not here: 100 %
  bool operator==(const PoolQueueSpec&) const = default;
};

// The job that is first in line: nodes are kept for it.
struct QueueHolder {
  std::string job;  // "namespace/name"
  std::optional<base::WallTime> since;
  std::int64_t workers = 0;
  std::optional<base::WallTime> latest_start;  // absent: some jobs that it waits for have no deadline
  bool operator==(const QueueHolder&) const = default;
};

// Amounts are Kubernetes quantities of GPUs, weighted with spec.queue.rates: "16", "1500m".
struct TenantStatus {
  std::string name;
  std::int64_t queued = 0;   // jobs
  std::string held;          // now
  std::string average_held;  // over the recent past, by halfLifeSeconds
  std::string usage;         // milli-GPU-seconds, decayed to QueueStatus::as_of
  bool operator==(const TenantStatus&) const = default;
};

// status.queue of a pool.
struct QueueStatus {
  std::optional<base::WallTime> as_of;
  base::Boxed<QueueHolder> holder;
  std::vector<TenantStatus> tenants;  // of spec.queue first, then the others that hold or have used most
  bool operator==(const QueueStatus&) const = default;
};

// Values of JobQueueStatus::basis.
namespace estimate_basis {
inline constexpr char kBounds[] = "Bounds";    // deadlines: it starts by then
inline constexpr char kHistory[] = "History";  // how long jobs of the tenants ran
}  // namespace estimate_basis

// status.queue of a job that waits in a pool with spec.queue.
struct JobQueueStatus {
  std::string tenant;
  std::optional<base::WallTime> reserved_since;        // the job is first in line: nodes are kept for it
  std::optional<base::WallTime> latest_start;          // with reserved_since; absent: not known
  std::int64_t place = 0;                              // 1: next; 0: not told
  std::optional<base::WallTime> estimated_start = {};  // absent: not known
  base::Word basis = {};                               // estimate_basis; only with estimated_start
  bool operator==(const JobQueueStatus&) const = default;
};

}  // namespace gpupool::api

namespace gpupool::base::json {

template <>
struct Schema<api::QueueTenant> {
  using T = api::QueueTenant;
  static constexpr auto fields =
      std::array{field<&T::name>("name"),     field<&T::namespaces>("namespaces"),
                 field<&T::weight>("weight"), field<&T::guaranteed>("guaranteed"),
                 field<&T::limit>("limit"),   field<&T::max_priority>("maxPriority")};
};
template <>
struct Schema<api::QueueOthers> {
  using T = api::QueueOthers;
  static constexpr auto fields =
      std::array{field<&T::mode>("mode"), field<&T::weight>("weight"), field<&T::limit>("limit")};
};
template <>
struct Schema<api::ModelRate> {
  using T = api::ModelRate;
  static constexpr auto fields = std::array{field<&T::model>("model"), field<&T::percent>("percent")};
};
template <>
struct Schema<api::QueueYield> {
  using T = api::QueueYield;
  static constexpr auto fields = std::array{field<&T::to_guarantee>("toGuarantee"),
                                            field<&T::to_priority>("toPriority"),
                                            field<&T::to_share>("toShare"),
                                            field<&T::min_run_seconds>("minRunSeconds"),
                                            field<&T::share_min_run_seconds>("shareMinRunSeconds"),
                                            field<&T::patience_seconds>("patienceSeconds"),
                                            field<&T::margin_percent>("marginPercent")};
};
template <>
struct Schema<api::PoolQueueSpec> {
  using T = api::PoolQueueSpec;
  static constexpr auto fields = std::array{field<&T::half_life_seconds>("halfLifeSeconds"),
                                            field<&T::tenants>("tenants"),
                                            field<&T::others>("others"),
                                            field<&T::order>("order"),
                                            field<&T::assumed_seconds>("assumedSeconds"),
                                            field<&T::backfill>("backfill"),
                                            field<&T::yield>("yield"),
                                            field<&T::rates>("rates")};
};
template <>
struct Schema<api::QueueHolder> {
  using T = api::QueueHolder;
  static constexpr auto fields =
      std::array{field<&T::job>("job"), field<&T::since>("since"), field<&T::workers>("workers"),
                 field<&T::latest_start>("latestStart")};
};
template <>
struct Schema<api::TenantStatus> {
  using T = api::TenantStatus;
  static constexpr auto fields =
      std::array{field<&T::name>("name"), field<&T::queued>("queued"), field<&T::held>("held"),
                 field<&T::average_held>("averageHeld"), field<&T::usage>("usage")};
};
template <>
struct Schema<api::QueueStatus> {
  using T = api::QueueStatus;
  static constexpr auto fields =
      std::array{field<&T::as_of>("asOf"), field<&T::holder>("holder"), field<&T::tenants>("tenants")};
};
template <>
struct Schema<api::JobQueueStatus> {
  using T = api::JobQueueStatus;
  static constexpr auto fields = std::array{field<&T::tenant>("tenant"),
                                            field<&T::reserved_since>("reservedSince"),
                                            field<&T::latest_start>("latestStart"),
                                            field<&T::place>("place"),
                                            field<&T::estimated_start>("estimatedStart"),
                                            field<&T::basis>("basis")};
};

}  // namespace gpupool::base::json
