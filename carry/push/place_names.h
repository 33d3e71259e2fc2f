// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

namespace gpupool::carry {

// What stands for $(job), $(namespace), $(attempt) and $(rank).
struct PlaceNames {
  std::string job;
  std::string ns;
  std::int64_t attempt = 0;
  std::int64_t rank = 0;
};

// Replaces these names in a prefix or path; other text stays. Pure.
std::string fill_in(std::string text, const PlaceNames& names);

}  // namespace gpupool::carry
