// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "api/meta/object_meta.h"
#include "api/v1alpha1/condition.h"
#include "api/v1alpha1/near.h"
#include "api/v1alpha1/pool_price.h"
#include "api/v1alpha1/pool_queue.h"

namespace gpupool::api {

struct LabelSelectorRequirement {
  std::string key;
  std::string op;  // In, NotIn, Exists, DoesNotExist
  std::vector<std::string> values;
};

struct LabelSelector {
  std::map<std::string, std::string> match_labels;
  std::vector<LabelSelectorRequirement> match_expressions;
};

struct PoolGpus {
  std::string resource_name = "nvidia.com/gpu";
  std::vector<std::string> models;  // empty: any
  std::string min_memory;           // a quantity, per GPU; empty: any
  bool homogeneous = false;         // all GPUs of a job have one model
};

// Values of PoolSharing::unit: what a worker gets some of.
namespace sharing_unit {
inline constexpr char kSlice[] = "Slice";
inline constexpr char kGpu[] = "GPU";
}  // namespace sharing_unit

// Jobs share the nodes of this pool: each worker gets slices of one GPU, or whole GPUs. With slices: The
// device plugin's configuration decides how a GPU is cut. These values are what the pool promises; a GPU that
// is cut in another way is not used.
struct PoolSharing {
  base::Word unit = {};  // empty: Slice
  std::string resource_name = "gpupool.dev/vgpu";
  std::optional<std::int64_t> device_split_count;
  std::optional<double> device_memory_scaling;
  std::optional<double> device_core_scaling;
};

// Values of GpuPoolSpec::pod_security, named after the Pod Security Standards.
inline constexpr char kBaseline[] = "Baseline";
inline constexpr char kPrivileged[] = "Privileged";

// Nodes that stay free for jobs that lose a node or must leave one.
struct PoolSpares {
  std::int64_t nodes = 0;
};

struct GpuPoolSpec {
  LabelSelector node_selector;
  std::string node_name_pattern;  // RE2; empty: any name
  PoolGpus gpus;
  std::optional<PoolSharing> sharing;
  std::optional<Near> near;              // for jobs that do not say it
  std::string pod_security = kBaseline;  // every value except kPrivileged means kBaseline
  std::int64_t node_loss_timeout_seconds = 30;
  std::optional<std::int64_t> max_termination_grace_period_seconds;  // of workers
  base::Boxed<PoolSpares> spares;
  base::Boxed<PoolQueueSpec> queue;
  base::Boxed<PoolPrice> price;  // absent: its jobs are not billed

  // True if workers get whole GPUs of nodes that they share.
  bool rents_gpus() const { return sharing && sharing->unit == sharing_unit::kGpu; }
  // The resource that workers of this pool request.
  const std::string& worker_resource() const {
    return sharing && !rents_gpus() ? sharing->resource_name : gpus.resource_name;
  }
};

struct PoolNodeCounts {
  std::int64_t total = 0;
  std::int64_t ready = 0;
  std::int64_t unready = 0;
  std::int64_t cordoned = 0;  // or with kDrain
  std::int64_t leased = 0;
  std::int64_t available = 0;  // nodes that are ready, not cordoned, drained, leased or spare, and have GPUs
  std::int64_t spare = 0;      // free nodes that spec.spares keeps; only with it
  bool operator==(const PoolNodeCounts&) const = default;
};

struct PoolGpuModel {
  std::string model;
  std::int64_t count = 0;
  std::string memory;
  bool operator==(const PoolGpuModel&) const = default;
};

struct PoolGpuCounts {
  std::int64_t total = 0;
  std::int64_t leased = 0;
  std::int64_t available = 0;
  std::vector<PoolGpuModel> models;
  bool operator==(const PoolGpuCounts&) const = default;
};

struct PoolJobCounts {
  std::int64_t queued = 0;
  std::int64_t running = 0;
  bool operator==(const PoolJobCounts&) const = default;
};

// A node that the pool's selector matches but the pool does not use, and why.
struct ExcludedNode {
  std::string name;
  std::string reason;
  bool operator==(const ExcludedNode&) const = default;
};

// Only in a sharing pool.
struct PoolSliceCounts {
  std::int64_t total = 0;
  std::int64_t free = 0;
  bool operator==(const PoolSliceCounts&) const = default;
};

// A node with kDrain that jobs still hold.
struct DrainingNode {
  std::string name;
  std::string waits_for;                   // one of the jobs, "namespace/name"; shortened
  std::optional<base::WallTime> deadline;  // absent: none
  std::string problem;                     // what is wrong with the annotation; empty: nothing
  bool operator==(const DrainingNode&) const = default;
};

struct GpuPoolStatus {
  std::int64_t observed_generation = 0;
  std::vector<Condition> conditions;
  PoolNodeCounts nodes;
  PoolGpuCounts gpus;
  base::Boxed<PoolSliceCounts> slices;  // only with spec.sharing
  PoolJobCounts jobs;
  std::vector<ExcludedNode> excluded;  // the first 50 by name
  std::vector<DrainingNode> draining;  // the same
  base::Boxed<QueueStatus> queue;      // only with spec.queue
  base::Boxed<PoolPriceNow> price;     // only with spec.price.demand
  bool operator==(const GpuPoolStatus&) const = default;
};

struct GpuPool {
  static constexpr ResourceType kType{"gpupool.dev", "v1alpha1", "gpupools", "GpuPool", false};
  ObjectMeta metadata;
  GpuPoolSpec spec;
  GpuPoolStatus status;
};

}  // namespace gpupool::api

namespace gpupool::base::json {

template <>
struct Schema<api::LabelSelectorRequirement> {
  using T = api::LabelSelectorRequirement;
  static constexpr auto fields =
      std::array{field<&T::key>("key"), field<&T::op>("operator"), field<&T::values>("values")};
};
template <>
struct Schema<api::LabelSelector> {
  using T = api::LabelSelector;
  static constexpr auto fields =
      std::array{field<&T::match_labels>("matchLabels"), field<&T::match_expressions>("matchExpressions")};
};
template <>
struct Schema<api::PoolGpus> {
  using T = api::PoolGpus;
  static constexpr auto fields =
      std::array{field<&T::resource_name>("resourceName"), field<&T::models>("models"),
                 field<&T::min_memory>("minMemory"), field<&T::homogeneous>("homogeneous")};
};
template <>
struct Schema<api::PoolSharing> {
  using T = api::PoolSharing;
  static constexpr auto fields = std::array{field<&T::unit>("unit"), field<&T::resource_name>("resourceName"),
                                            field<&T::device_split_count>("deviceSplitCount"),
                                            field<&T::device_memory_scaling>("deviceMemoryScaling"),
                                            field<&T::device_core_scaling>("deviceCoreScaling")};
};
template <>
struct Schema<api::PoolSpares> {
  static constexpr auto fields = std::array{field<&api::PoolSpares::nodes>("nodes")};
};
template <>
struct Schema<api::GpuPoolSpec> {
  using T = api::GpuPoolSpec;
  static constexpr auto fields =
      std::array{field<&T::node_selector>("nodeSelector"),
                 field<&T::node_name_pattern>("nodeNamePattern"),
                 field<&T::gpus>("gpus"),
                 field<&T::sharing>("sharing"),
                 field<&T::near>("near"),
                 field<&T::pod_security>("podSecurity"),
                 field<&T::node_loss_timeout_seconds>("nodeLossTimeoutSeconds"),
                 field<&T::max_termination_grace_period_seconds>("maxTerminationGracePeriodSeconds"),
                 field<&T::spares>("spares"),
                 field<&T::queue>("queue"),
                 field<&T::price>("price")};
};
template <>
struct Schema<api::PoolNodeCounts> {
  using T = api::PoolNodeCounts;
  static constexpr auto fields = std::array{field<&T::total>("total"),     field<&T::ready>("ready"),
                                            field<&T::unready>("unready"), field<&T::cordoned>("cordoned"),
                                            field<&T::leased>("leased"),   field<&T::available>("available"),
                                            field<&T::spare>("spare")};
};
template <>
struct Schema<api::PoolGpuModel> {
  using T = api::PoolGpuModel;
  static constexpr auto fields =
      std::array{field<&T::model>("model"), field<&T::count>("count"), field<&T::memory>("memory")};
};
template <>
struct Schema<api::PoolGpuCounts> {
  using T = api::PoolGpuCounts;
  static constexpr auto fields = std::array{field<&T::total>("total"), field<&T::leased>("leased"),
                                            field<&T::available>("available"), field<&T::models>("models")};
};
template <>
struct Schema<api::PoolJobCounts> {
  using T = api::PoolJobCounts;
  static constexpr auto fields = std::array{field<&T::queued>("queued"), field<&T::running>("running")};
};
template <>
struct Schema<api::ExcludedNode> {
  using T = api::ExcludedNode;
  static constexpr auto fields = std::array{field<&T::name>("name"), field<&T::reason>("reason")};
};
template <>
struct Schema<api::PoolSliceCounts> {
  using T = api::PoolSliceCounts;
  static constexpr auto fields = std::array{field<&T::total>("total"), field<&T::free>("free")};
};
template <>
struct Schema<api::DrainingNode> {
  using T = api::DrainingNode;
  static constexpr auto fields = std::array{field<&T::name>("node"), field<&T::waits_for>("waitsFor"),
                                            field<&T::deadline>("deadline"), field<&T::problem>("problem")};
};
template <>
struct Schema<api::GpuPoolStatus> {
  using T = api::GpuPoolStatus;
  static constexpr auto fields = std::array{field<&T::observed_generation>("observedGeneration"),
                                            field<&T::conditions>("conditions"),
                                            field<&T::nodes>("nodes"),
                                            field<&T::gpus>("gpus"),
                                            field<&T::slices>("slices"),
                                            field<&T::jobs>("jobs"),
                                            field<&T::excluded>("excluded"),
                                            field<&T::draining>("draining"),
                                            field<&T::queue>("queue"),
                                            field<&T::price>("price")};
};
template <>
struct Schema<api::GpuPool> {
  using T = api::GpuPool;
  static constexpr auto fields =
      std::array{field<&T::metadata>("metadata"), field<&T::spec>("spec"), field<&T::status>("status")};
};

}  // namespace gpupool::base::json
