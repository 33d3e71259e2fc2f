// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace gpupool::base {

// Money is counted in millionths of a currency unit, as integers: sums of it are exact.
using Micros = std::int64_t;

// Parses a decimal number such as "1.20": at most 12 digits before the point and 6 after it, no sign, no
// exponent. Returns nothing for any other text.
std::optional<Micros> parse_micros(std::string_view text);
// Returns the amount with six digits after the point: "13.744667", "-0.500000".
std::string micros_text(Micros amount);

// What a use of `units` for `seconds` costs, and what remains below one millionth: of 3600 * split parts.
struct Charge {
  Micros amount = 0;
  std::int64_t carry = 0;
};

// price: millionths for one GPU-hour. units: GPUs, or slices of GPUs that are cut into `split`; split is 1
// for GPUs. carry: the remainder of the charge before it, so that many small charges add up to the charge for
// all of them: no part of a millionth is lost or charged twice between them. Returns nothing if the amount
// does not fit. REQUIRES: price, units, seconds, carry >= 0; split >= 1.
std::optional<Charge> charge_for(Micros price, std::int64_t units, std::int64_t split, std::int64_t seconds,
                                 std::int64_t carry);

}  // namespace gpupool::base
