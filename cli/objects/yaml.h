// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace gpupool::objects {

// JSON as YAML blocks, in the same order. Texts that YAML could take for something else are quoted. REQUIRES:
// json is valid.
std::string yaml_of(std::string_view json);

}  // namespace gpupool::objects
