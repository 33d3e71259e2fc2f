#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace gpupool::base {

// A Kubernetes resource quantity ("16Gi", "500m", "1e3") in whole units, rounded up as Quantity.Value() does.
// Nothing if it does not parse or does not fit into 64 bits.
std::optional<std::int64_t> parse_quantity(std::string_view text);

// Bytes as people read them in a pool's status: "16Gi", "512Mi", "1000".
std::string format_binary(std::int64_t bytes);

}  // namespace gpupool::base
