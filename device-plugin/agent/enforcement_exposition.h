// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "enforcement/audit.h"
#include "enforcement/counted_container.h"

namespace gpupool::agent {

// What enforced containers may use, use, and were refused, by their own word, whether their limits are
// enforced, and what does not fit the driver's figures, in Prometheus' text format. Empty where nothing is
// enforced. Pure.
std::string expose_enforcement(const std::vector<enforcement::CountedContainer>& containers,
                               const std::vector<enforcement::Finding>& findings);

}  // namespace gpupool::agent
