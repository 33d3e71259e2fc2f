// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace gpupool::carry::csv {

enum class NumberKind : std::uint8_t { kNone, kInteger, kNumber };

// Reads what pandas reads as a number: decimal digits with a sign, a point and an exponent, or "inf" and
// "infinity" in any case; spaces around it do not count. 007 is the integer 7. An integer that does not fit
// 64 bits is kNumber. What is too large for a double, and "nan", is kNone; `value` is then left alone. Pure.
NumberKind parse_number(std::string_view text, double& value);

// Returns the integer that parse_number() calls kInteger, without rounding. Pure.
std::optional<std::int64_t> parse_integer(std::string_view text);

// Returns the shortest text that reads back as `value`. A whole number below 2^63 has no point and no
// exponent. Pure.
std::string number_text(double value);

}  // namespace gpupool::carry::csv
