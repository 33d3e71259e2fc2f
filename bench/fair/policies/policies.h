// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "bench/fair/engine/policy.h"

namespace gpupool::bench::fair {

// In the order of the table.
std::vector<std::string> policy_names();
// Null if there is no policy of this name. REQUIRES: the workload outlives the policy.
std::unique_ptr<Policy> make_policy(const std::string& name, const Workload& workload,
                                    const Settings& settings);

}  // namespace gpupool::bench::fair
