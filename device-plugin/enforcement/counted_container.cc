// SPDX-License-Identifier: Apache-2.0
#include "enforcement/counted_container.h"

#include <utility>

namespace gpupool::enforcement {

std::vector<CountedContainer> count_containers(const RegionStore& regions,
                                               const std::vector<Container>& containers) {
  std::vector<CountedContainer> counted;
  counted.reserve(containers.size());
  for (const Container& container : containers) {
    CountedContainer one{container, std::nullopt, {}};
    if (auto use = read_region(regions.path(container.region))) {
      one.use = std::move(*use);
    } else {
      one.problem = use.error().message;
    }
    counted.push_back(std::move(one));
  }
  return counted;
}

}  // namespace gpupool::enforcement
