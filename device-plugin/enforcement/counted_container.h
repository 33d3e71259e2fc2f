// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "enforcement/container.h"
#include "enforcement/region_store.h"
#include "enforcement/region_use.h"

namespace gpupool::enforcement {

// A container with what its region says.
struct CountedContainer {
  Container container;
  std::optional<RegionUse> use;  // absent: `problem` says why its region cannot be read
  std::string problem;
  bool operator==(const CountedContainer&) const = default;
};

// Reads the regions of all these containers.
std::vector<CountedContainer> count_containers(const RegionStore& regions,
                                               const std::vector<Container>& containers);

}  // namespace gpupool::enforcement
