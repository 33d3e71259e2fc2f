// SPDX-License-Identifier: Apache-2.0
// How far the ledger has come. Written by gpupool-ledger alone; the operator reads it.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>

#include "api/meta/object_meta.h"
#include "api/meta/resource_type.h"
#include "base/clock.h"
#include "base/json.h"

namespace gpupool::api {

// The name of the only GpuLedger.
inline constexpr char kTheLedger[] = "gpupool";

// The last entry of the books. Who knows it can tell later whether entries were cut off.
struct LedgerHead {
  std::int64_t seq = 0;
  std::string hash;
  bool operator==(const LedgerHead&) const = default;
};

struct GpuLedgerStatus {
  // All GpuJobs up to this resourceVersion are in the books; empty or "0": none.
  std::string through_version;
  std::optional<base::WallTime> as_of;  // when this was written
  LedgerHead head;
};

struct GpuLedger {
  static constexpr ResourceType kType{"gpupool.dev", "v1alpha1", "gpuledgers", "GpuLedger", false};
  ObjectMeta metadata;
  GpuLedgerStatus status;
};

}  // namespace gpupool::api

namespace gpupool::base::json {

template <>
struct Schema<api::LedgerHead> {
  using T = api::LedgerHead;
  static constexpr auto fields = std::array{field<&T::seq>("seq"), field<&T::hash>("hash")};
};
template <>
struct Schema<api::GpuLedgerStatus> {
  using T = api::GpuLedgerStatus;
  static constexpr auto fields = std::array{field<&T::through_version>("throughVersion"),
                                            field<&T::as_of>("asOf"), field<&T::head>("head")};
};
template <>
struct Schema<api::GpuLedger> {
  using T = api::GpuLedger;
  static constexpr auto fields = std::array{field<&T::metadata>("metadata"), field<&T::status>("status")};
};

}  // namespace gpupool::base::json
