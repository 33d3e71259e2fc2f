// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace gpupool::base {

// A calendar month in UTC, as Unix seconds; the end is not part of it.
struct Month {
  std::string name;  // 2026-11
  std::int64_t begin = 0;
  std::int64_t end = 0;
};

// Reads "2026-11"; nothing for other text.
std::optional<Month> parse_month(std::string_view text);
// The month of this moment, which is in Unix seconds.
Month month_of(std::int64_t moment);

}  // namespace gpupool::base
