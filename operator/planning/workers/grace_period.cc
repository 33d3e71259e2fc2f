// SPDX-License-Identifier: Apache-2.0
#include "planning/workers/grace_period.h"

#include <algorithm>

namespace gpupool::planning {

std::int64_t grace_seconds(const api::GpuJobSpec& spec, const std::optional<std::int64_t>& of_template,
                           const std::optional<std::int64_t>& most) {
  const auto of_checkpoint = spec.checkpoint ? spec.checkpoint->grace_seconds : std::nullopt;
  const auto wanted = of_checkpoint.value_or(of_template.value_or(kDefaultGraceSeconds));
  if (wanted == 0) return 1;
  return most ? std::min(wanted, *most) : wanted;
}

}  // namespace gpupool::planning
