// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace gpupool::base {

// Parses a Kubernetes resource quantity ("16Gi", "500m", "1e3") and rounds it up to whole units, like
// Quantity.Value(). Returns nothing if it does not parse or does not fit into 64 bits.
std::optional<std::int64_t> parse_quantity(std::string_view text);
// The same in thousandths, like Quantity.MilliValue(): "500m" is 500, "2" is 2000.
std::optional<std::int64_t> parse_milli_quantity(std::string_view text);

// Formats bytes for the status of a pool: "16Gi", "512Mi", "1000".
std::string format_binary(std::int64_t bytes);

}  // namespace gpupool::base
