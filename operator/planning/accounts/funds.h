// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "api/v1alpha1/problem.h"

namespace gpupool::planning {

// Whether the account that pays for a job can.
struct Funds {
  std::optional<api::Problem> problem = std::nullopt;  // why the job gets no nodes
  bool stops = false;                                  // it gives back those that it holds, too
};

}  // namespace gpupool::planning
