// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>

namespace gpupool::limiter {

// As zlib computes it. Pure.
std::uint32_t crc32(std::string_view bytes);

}  // namespace gpupool::limiter
