// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace gpupool::planning {

// A number in [0, 1) that depends on nothing but its arguments: a counter-based generator (the finalizer of
// SplitMix64), so nothing has to be stored to draw the same again. Golden files fix its values: they must
// never change, because trials of a running sweep would.
double unit_draw(std::int64_t seed, std::uint64_t draw, std::string_view parameter);

// Each maps a number of [0, 1) to a value as text. Numbers are rounded to a millionth of the range (for
// log_uniform: to six digits), so that they are short and do not depend on the last bit of exp and log.
// REQUIRES: min < max, both finite; log_uniform_value: min > 0.
std::string uniform_value(double unit, double min, double max);
std::string log_uniform_value(double unit, double min, double max);
// REQUIRES: min <= max; both are exact as a double.
std::int64_t integer_value(double unit, std::int64_t min, std::int64_t max);

}  // namespace gpupool::planning
