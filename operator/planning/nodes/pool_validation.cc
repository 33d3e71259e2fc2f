// SPDX-License-Identifier: Apache-2.0
#include "planning/nodes/pool_validation.h"

#include "api/v1alpha1/reasons.h"
#include "base/quantity.h"
#include "planning/nodes/membership.h"
#include "planning/pricing/pool_price.h"
#include "planning/tenants/queue_validation.h"

namespace gpupool::planning {
namespace {

namespace reason = api::reason;
constexpr std::size_t kMaxTaintValue = 63;

std::optional<api::Problem> check_unit(const api::GpuPoolSpec& spec) {
  if (!spec.sharing) return std::nullopt;
  const auto& sharing = *spec.sharing;
  if (!sharing.unit.empty() && sharing.unit != api::sharing_unit::kSlice && !spec.rents_gpus())
    return api::Problem{reason::kInvalidSpec, "spec.sharing.unit must be GPU or Slice"};
  const bool cut = sharing.device_split_count || sharing.device_memory_scaling || sharing.device_core_scaling;
  if (spec.rents_gpus() && cut) {
    return api::Problem{
        reason::kInvalidSpec,
        "spec.sharing: deviceSplitCount, deviceMemoryScaling and deviceCoreScaling are for unit "
        "Slice; remove them"};
  }
  return std::nullopt;
}

std::optional<api::Problem> check_spares(const api::GpuPoolSpec& spec) {
  if (!spec.spares) return std::nullopt;
  if (spec.sharing) {
    return api::Problem{reason::kInvalidSpec,
                        "spec.spares is for pools whose jobs hold whole nodes; remove it or spec.sharing"};
  }
  if (spec.spares->nodes < 0)
    return api::Problem{reason::kInvalidSpec, "spec.spares.nodes must not be negative"};
  return std::nullopt;
}

}  // namespace

std::optional<api::Problem> validate_pool(const api::GpuPool& pool) {
  if (pool.spec.sharing && pool.metadata.name.size() > kMaxTaintValue) {
    return api::Problem{
        reason::kInvalidSpec,
        "metadata.name: the name of a pool with spec.sharing is a taint value and has at most " +
            std::to_string(kMaxTaintValue) + " characters"};
  }
  if (auto problem = check_unit(pool.spec)) return problem;
  if (auto problem = check_spares(pool.spec)) return problem;
  if (pool.spec.queue) {
    if (auto problem = check_queue(*pool.spec.queue); !problem.empty())
      return api::Problem{reason::kInvalidSpec, "spec.queue." + problem};
  }
  if (pool.spec.price) {
    if (auto problem = check_price(*pool.spec.price); !problem.empty())
      return api::Problem{reason::kInvalidSpec, "spec.price." + problem};
  }
  if (auto error = check_pattern(pool.spec.node_name_pattern); !error.empty()) {
    return api::Problem{reason::kInvalidNodeNamePattern, "spec.nodeNamePattern: " + error};
  }
  if (auto error = check_selector(pool.spec.node_selector); !error.empty()) {
    return api::Problem{reason::kInvalidNodeSelector, "spec.nodeSelector: " + error};
  }
  const auto& memory = pool.spec.gpus.min_memory;
  if (!memory.empty() && !base::parse_quantity(memory)) {
    return api::Problem{reason::kInvalidSpec,
                        "spec.gpus.minMemory: \"" + memory + "\" is not a quantity such as 16Gi"};
  }
  return std::nullopt;
}

}  // namespace gpupool::planning
