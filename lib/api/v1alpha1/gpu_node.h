// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "api/meta/object_meta.h"
#include "api/v1alpha1/condition.h"

namespace gpupool::api {

// A pod that has slices of one GPU, according to the kubelet's podresources.
struct GpuNodePod {
  std::string ns;
  std::string name;
  std::int64_t slices = 0;
  bool operator==(const GpuNodePod&) const = default;
};

struct GpuNodeSlices {
  std::int64_t total = 0;
  std::int64_t free = 0;        // healthy and not in a pod
  std::int64_t memory_mib = 0;  // of each slice
  std::int64_t cores = 0;       // percent of the GPU, of each slice
  bool operator==(const GpuNodeSlices&) const = default;
};

struct GpuNodeGpu {
  std::string uuid;
  std::int64_t index = 0;
  std::string model;
  std::int64_t memory_mib = 0;
  std::string compute_capability;
  std::int64_t numa_node = -1;
  bool mig = false;
  std::string health;         // Healthy or Unhealthy
  std::string reason;         // why it is unhealthy or not advertised
  std::string resource_name;  // empty: not advertised
  GpuNodeSlices slices;       // a whole GPU is one slice
  std::vector<GpuNodePod> pods;
  bool operator==(const GpuNodeGpu&) const = default;
};

// A container that uses more memory of a GPU than its slices have, as the device plugin has measured.
struct GpuNodeExcess {
  std::string ns;  // of the pod; all three are empty where the plugin cannot tell whose memory it is
  std::string pod;
  std::string pod_uid;
  std::string device;  // UUID
  std::int64_t used_mib = 0;
  std::int64_t limit_mib = 0;
  std::optional<base::WallTime> since;  // when it was first seen
  bool end = false;                     // the node's owner wants such a worker ended
  bool operator==(const GpuNodeExcess&) const = default;
};

struct GpuNodeCounts {
  std::int64_t total = 0;
  std::int64_t healthy = 0;
  bool operator==(const GpuNodeCounts&) const = default;
};

struct GpuNodeSliceCounts {
  std::int64_t total = 0;
  std::int64_t free = 0;
  bool operator==(const GpuNodeSliceCounts&) const = default;
};

// Without the telemetry (lastSample, usage and gpus[].usage): no decision depends on it, so the operator
// neither decodes nor stores it. device-plugin/report/report_body.cc writes it.
struct GpuNodeStatus {
  std::string plugin_version;
  std::string driver_version;  // empty: no driver
  std::string cuda_version;
  std::string message;  // for the owner of the node: no driver, a bad configuration
  std::optional<base::WallTime> last_report;
  std::vector<Condition> conditions;  // Ready
  GpuNodeCounts gpu_counts;
  GpuNodeSliceCounts slice_counts;
  std::vector<GpuNodeGpu> gpus;         // in order of index
  std::vector<GpuNodeExcess> excesses;  // at most 32; none: no GPU is used beyond a limit
  bool operator==(const GpuNodeStatus&) const = default;
};

// The report of a node's device plugin. It has the name of the Node and is owned by it. It is trusted for the
// capacity of that node only.
struct GpuNode {
  static constexpr ResourceType kType{"gpupool.dev", "v1alpha1", "gpunodes", "GpuNode", false};
  ObjectMeta metadata;
  GpuNodeStatus status;
};

}  // namespace gpupool::api

namespace gpupool::base::json {

template <>
struct Schema<api::GpuNodePod> {
  using T = api::GpuNodePod;
  static constexpr auto fields =
      std::array{field<&T::ns>("namespace"), field<&T::name>("name"), field<&T::slices>("slices")};
};
template <>
struct Schema<api::GpuNodeSlices> {
  using T = api::GpuNodeSlices;
  static constexpr auto fields = std::array{field<&T::total>("total"), field<&T::free>("free"),
                                            field<&T::memory_mib>("memoryMiB"), field<&T::cores>("cores")};
};
template <>
struct Schema<api::GpuNodeGpu> {
  using T = api::GpuNodeGpu;
  static constexpr auto fields = std::array{field<&T::uuid>("uuid"),
                                            field<&T::index>("index"),
                                            field<&T::model>("model"),
                                            field<&T::memory_mib>("memoryMiB"),
                                            field<&T::compute_capability>("computeCapability"),
                                            field<&T::numa_node>("numaNode"),
                                            field<&T::mig>("mig"),
                                            field<&T::health>("health"),
                                            field<&T::reason>("reason"),
                                            field<&T::resource_name>("resourceName"),
                                            field<&T::slices>("slices"),
                                            field<&T::pods>("pods")};
};
template <>
struct Schema<api::GpuNodeExcess> {
  using T = api::GpuNodeExcess;
  static constexpr auto fields = std::array{field<&T::ns>("namespace"),     field<&T::pod>("pod"),
                                            field<&T::pod_uid>("podUID"),   field<&T::device>("device"),
                                            field<&T::used_mib>("usedMiB"), field<&T::limit_mib>("limitMiB"),
                                            field<&T::since>("since"),      field<&T::end>("end")};
};
template <>
struct Schema<api::GpuNodeCounts> {
  using T = api::GpuNodeCounts;
  static constexpr auto fields = std::array{field<&T::total>("total"), field<&T::healthy>("healthy")};
};
template <>
struct Schema<api::GpuNodeSliceCounts> {
  using T = api::GpuNodeSliceCounts;
  static constexpr auto fields = std::array{field<&T::total>("total"), field<&T::free>("free")};
};
template <>
struct Schema<api::GpuNodeStatus> {
  using T = api::GpuNodeStatus;
  static constexpr auto fields = std::array{field<&T::plugin_version>("pluginVersion"),
                                            field<&T::driver_version>("driverVersion"),
                                            field<&T::cuda_version>("cudaVersion"),
                                            field<&T::message>("message"),
                                            field<&T::last_report>("lastReport"),
                                            field<&T::conditions>("conditions"),
                                            field<&T::gpu_counts>("gpuCounts"),
                                            field<&T::slice_counts>("sliceCounts"),
                                            field<&T::gpus>("gpus"),
                                            field<&T::excesses>("excesses")};
};
template <>
struct Schema<api::GpuNode> {
  using T = api::GpuNode;
  static constexpr auto fields = std::array{field<&T::metadata>("metadata"), field<&T::status>("status")};
};

}  // namespace gpupool::base::json
