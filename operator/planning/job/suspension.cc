// SPDX-License-Identifier: Apache-2.0
#include "planning/job/suspension.h"

#include "api/v1alpha1/reasons.h"

namespace gpupool::planning {

std::optional<api::Problem> suspension(const Observation& seen) {
  if (seen.job.spec.suspend) return api::Problem{api::reason::kSuspended, "spec.suspend is true"};
  if (seen.funds.stops) return seen.funds.problem;
  return std::nullopt;
}

}  // namespace gpupool::planning
