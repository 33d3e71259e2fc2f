// SPDX-License-Identifier: Apache-2.0
#include "screen/bytes.h"

#include <algorithm>
#include <array>

namespace gpupool::screen {

std::string bytes_text(std::int64_t bytes) {
  static constexpr std::array<const char*, 6> kUnits{" KiB", " MiB", " GiB", " TiB", " PiB", " EiB"};
  static constexpr std::int64_t kStep = 1024;
  static constexpr std::int64_t kMost = 1000;  // then the next unit is shorter
  bytes = std::max<std::int64_t>(bytes, 0);
  if (bytes < kStep) return std::to_string(bytes) + " B";
  std::size_t unit = 0;
  std::int64_t size = kStep;
  while (bytes / size >= kMost && unit + 1 < kUnits.size()) {
    size *= kStep;
    ++unit;
  }
  const auto tenths = static_cast<std::int64_t>(static_cast<double>(bytes) * 10 / static_cast<double>(size));
  std::string text = std::to_string(tenths / 10);
  if (tenths < 1000) text += "." + std::to_string(tenths % 10);
  return text + kUnits.at(unit);
}

}  // namespace gpupool::screen
