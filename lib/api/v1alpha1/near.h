// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <compare>
#include <string>
#include <vector>

#include "base/json.h"

namespace gpupool::api {

// How near each other the nodes of a job with several workers shall be. Nodes with the same value of a label
// are one group.
struct Near {
  std::vector<std::string> labels;  // from near to far: rack, zone; empty: anywhere
  bool required = false;  // all nodes in one group of the last label; else as few groups as possible
  auto operator<=>(const Near&) const = default;
};

}  // namespace gpupool::api

namespace gpupool::base::json {

template <>
struct Schema<api::Near> {
  using T = api::Near;
  static constexpr auto fields = std::array{field<&T::labels>("labels"), field<&T::required>("required")};
};

}  // namespace gpupool::base::json
