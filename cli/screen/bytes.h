// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

namespace gpupool::screen {

// "17 B", "1.2 GiB": rounded down, in the greatest unit of which there are about one or more. Negative
// numbers are "0 B".
std::string bytes_text(std::int64_t bytes);

}  // namespace gpupool::screen
