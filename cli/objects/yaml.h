// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace gpupool::objects {

// JSON as YAML blocks, in the same order. Texts that YAML could take for something else are quoted. REQUIRES:
// json is valid.
std::string yaml_of(std::string_view json);

// The documents of a YAML text as JSON, one each; empty documents are left out. Plain words are read as
// Kubernetes reads them (YAML 1.1: yes and on are booleans). kParse, with line and column.
base::Result<std::vector<std::string>> json_of_yaml(const std::string& yaml);

}  // namespace gpupool::objects
