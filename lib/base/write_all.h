// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace gpupool::base {

// Writes all bytes, in as many calls as that takes. False: not all were written, and errno says why.
bool write_all(int fd, std::string_view bytes);

}  // namespace gpupool::base
