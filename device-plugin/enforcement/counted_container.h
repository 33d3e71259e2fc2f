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

// Why limits of the container are not enforced, as one word; empty: they are. What else the limiter says of
// itself (RegionUse::reasons) makes it refuse, or count less exactly.
std::string why_off(const CountedContainer& one);

// Reads the regions of all these containers, and cuts those that are too long: "Oversized".
std::vector<CountedContainer> count_containers(const RegionStore& regions,
                                               const std::vector<Container>& containers);

}  // namespace gpupool::enforcement
