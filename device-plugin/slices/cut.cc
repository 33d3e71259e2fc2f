// SPDX-License-Identifier: Apache-2.0
#include "slices/cut.h"

#include "slices/match.h"
#include "slices/notes.h"

namespace gpupool::slices {
namespace {

constexpr settings::Milli kOne = 1000;
constexpr std::int64_t kAllCores = 100;

}  // namespace

base::Result<Cut> cut(std::int64_t memory_mib, const settings::Split& split) {
  const std::int64_t memory = memory_mib * split.memory_scaling / kOne;
  const std::int64_t cores = kAllCores * split.core_scaling / kOne;
  Cut result;
  result.count = split.count;
  // floor(floor(M x S) / K) is floor(M x S / K), so nothing is lost by scaling first.
  result.memory_mib = memory / split.count;
  result.cores = cores / split.count;
  result.memory_left_mib = memory - result.memory_mib * split.count;
  result.cores_left = cores - result.cores * split.count;
  result.overcommits = split.memory_scaling > kOne || split.core_scaling > kOne;
  const std::string parts = "deviceSplitCount " + std::to_string(split.count);
  if (result.memory_mib < 1) {
    return base::fail(base::ErrorCode::kInvalidArgument,
                      parts + " and deviceMemoryScaling " + decimal(split.memory_scaling) +
                          " would leave each slice 0 MiB of its " + std::to_string(memory_mib) + " MiB");
  }
  if (result.cores < 1) {
    return base::fail(base::ErrorCode::kInvalidArgument, parts + " and deviceCoreScaling " +
                                                             decimal(split.core_scaling) +
                                                             " would leave each slice 0 % of its cores");
  }
  return result;
}

settings::Split split_of(const settings::Settings& settings, const std::string& node,
                         const inventory::Gpu& gpu) {
  settings::Split split = settings.split;
  for (const settings::Override& override : settings.overrides) {
    if (!matches(override.match, node, gpu)) continue;
    split.count = override.count.value_or(split.count);
    split.memory_scaling = override.memory_scaling.value_or(split.memory_scaling);
    split.core_scaling = override.core_scaling.value_or(split.core_scaling);
  }
  return split;
}

settings::Enforcement enforcement_of(const settings::Settings& settings, const std::string& node,
                                     const inventory::Gpu& gpu) {
  settings::Enforcement result = settings.enforcement;
  for (const settings::Override& override : settings.overrides) {
    if (!matches(override.match, node, gpu)) continue;
    const settings::EnforcementOverride& given = override.enforcement;
    result.enforce = given.enforce.value_or(result.enforce);
    result.context_mib = given.context_mib.value_or(result.context_mib);
    result.memory_wait_seconds = given.memory_wait_seconds.value_or(result.memory_wait_seconds);
    result.tolerance_mib = given.tolerance_mib.value_or(result.tolerance_mib);
    result.on_excess = given.on_excess.value_or(result.on_excess);
  }
  return result;
}

std::string slice_id(const std::string& uuid, std::int64_t ordinal) {
  return uuid + "::" + std::to_string(ordinal);
}

}  // namespace gpupool::slices
