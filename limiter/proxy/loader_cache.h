// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

namespace gpupool::limiter {

// Finds entry number `nth` of `soname` for this processor in the content of /etc/ld.so.cache and returns its
// path; nullptr if there are fewer, or if the content is not a cache. The path lies in the content.
const char* find_in_loader_cache(std::span<const char> content, std::string_view soname, std::size_t nth);

}  // namespace gpupool::limiter
