// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

namespace gpupool::screen {

// "17 B", "1.2 GiB": three digits at most before and one after the point. Negative numbers are "0 B".
std::string bytes_text(std::int64_t bytes);

}  // namespace gpupool::screen
