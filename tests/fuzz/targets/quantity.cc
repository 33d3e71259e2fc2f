// SPDX-License-Identifier: Apache-2.0
#include "base/quantity.h"

#include <limits>

#include "tests/fuzz/property.h"

using gpupool::base::parse_quantity;
using gpupool::fuzz::require;

namespace {

void check_one(const std::string& text) {
  const auto value = parse_quantity(text);
  if (!value) return;
  require(parse_quantity(text + " ") == std::nullopt, "nothing may stand behind a quantity");
  if (text.front() != '+' && text.front() != '-') {
    require(parse_quantity("+" + text) == value, "a plus changes nothing");
    require(parse_quantity("-" + text) == -*value, "rounding is symmetric");
  }
  if (*value == std::numeric_limits<std::int64_t>::min()) return;
  require(parse_quantity(gpupool::base::format_binary(*value)) == value, "parse(print(x)) == x");
}

}  // namespace

// Two numbers and a suffix, a line each.
void fuzz_quantity(std::string_view input) {
  const auto lines = gpupool::fuzz::split(input, '\n');
  for (const auto& line : lines) check_one(line);
  if (lines.size() < 3 || lines[2].empty() ||
      std::string("numkKMGTPE").find(lines[2][0]) == std::string::npos)
    return;
  const auto a = parse_quantity(lines[0]);
  const auto b = parse_quantity(lines[1]);
  const auto scaled_a = parse_quantity(lines[0] + lines[2]);
  const auto scaled_b = parse_quantity(lines[1] + lines[2]);
  const auto is_plain = [](const std::string& number) {
    return number.find_first_not_of("0123456789.+-") == std::string::npos;
  };
  if (!a || !b || !scaled_a || !scaled_b || *a >= *b || !is_plain(lines[0]) || !is_plain(lines[1])) return;
  require(*scaled_a <= *scaled_b, "a suffix keeps the order");
}
