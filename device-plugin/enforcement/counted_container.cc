// SPDX-License-Identifier: Apache-2.0
#include "enforcement/counted_container.h"

#include <algorithm>
#include <utility>

namespace gpupool::enforcement {

// A region that cannot be read says nothing; one whose limiter has found no limits enforces none.
std::string why_off(const CountedContainer& one) {
  constexpr const char* kNoLimits = "NoLimits";
  if (!one.use) return "RegionUnreadable";
  const auto& reasons = one.use->reasons;
  return std::find(reasons.begin(), reasons.end(), kNoLimits) == reasons.end() ? "" : kNoLimits;
}

std::vector<CountedContainer> count_containers(const RegionStore& regions,
                                               const std::vector<Container>& containers) {
  std::vector<CountedContainer> counted;
  counted.reserve(containers.size());
  for (const Container& container : containers) {
    CountedContainer one{container, std::nullopt, {}};
    const bool oversized = regions.cut(container.region);
    if (auto use = read_region(regions.path(container.region))) {
      one.use = std::move(*use);
      if (oversized) one.use->reasons.emplace_back("Oversized");
    } else {
      one.problem = use.error().message;
    }
    counted.push_back(std::move(one));
  }
  return counted;
}

}  // namespace gpupool::enforcement
