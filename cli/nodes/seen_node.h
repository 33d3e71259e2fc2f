// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "api/v1alpha1/gpu_node.h"

namespace gpupool::nodes {

// Readings of a GPU; those that it does not offer are absent.
struct Usage {
  std::optional<std::int64_t> utilization_percent;
  std::optional<std::int64_t> memory_used_mib;
  std::optional<std::int64_t> temperature_celsius;
  std::optional<std::int64_t> power_milliwatts;
};

struct SeenGpu {
  std::int64_t index = 0;
  std::string model;
  std::int64_t memory_mib = 0;
  std::string health;
  std::string reason;
  api::GpuNodeSlices slices;
  std::vector<api::GpuNodePod> pods;
  Usage usage;
};

struct SeenStatus {
  std::string message;
  std::optional<base::WallTime> last_report;
  std::vector<SeenGpu> gpus;
};

// A GpuNode with its telemetry, which api::GpuNode leaves out.
struct SeenNode {
  api::ObjectMeta metadata;
  SeenStatus status;
};

}  // namespace gpupool::nodes

namespace gpupool::base::json {

template <>
struct Schema<nodes::Usage> {
  using T = nodes::Usage;
  static constexpr auto fields = std::array{
      field<&T::utilization_percent>("utilizationPercent"), field<&T::memory_used_mib>("memoryUsedMiB"),
      field<&T::temperature_celsius>("temperatureCelsius"), field<&T::power_milliwatts>("powerMilliwatts")};
};
template <>
struct Schema<nodes::SeenGpu> {
  using T = nodes::SeenGpu;
  static constexpr auto fields =
      std::array{field<&T::index>("index"),   field<&T::model>("model"),   field<&T::memory_mib>("memoryMiB"),
                 field<&T::health>("health"), field<&T::reason>("reason"), field<&T::slices>("slices"),
                 field<&T::pods>("pods"),     field<&T::usage>("usage")};
};
template <>
struct Schema<nodes::SeenStatus> {
  using T = nodes::SeenStatus;
  static constexpr auto fields = std::array{field<&T::message>("message"),
                                            field<&T::last_report>("lastReport"), field<&T::gpus>("gpus")};
};
template <>
struct Schema<nodes::SeenNode> {
  using T = nodes::SeenNode;
  static constexpr auto fields = std::array{field<&T::metadata>("metadata"), field<&T::status>("status")};
};

}  // namespace gpupool::base::json
