// SPDX-License-Identifier: Apache-2.0
#include "objects/output.h"

#include <nlohmann/json.hpp>

#include "objects/yaml.h"

namespace gpupool::objects {

void add_output_flag(command::Flags& flags, std::string& value, const std::vector<std::string>& forms) {
  flags.choice("-o,--output", value, forms, "Form of the output; default: for people");
}

std::string printed(std::string_view json, const std::string& output) {
  if (output == "yaml") return yaml_of(json) + "\n";
  return nlohmann::ordered_json::parse(json).dump(4, ' ', false, nlohmann::json::error_handler_t::replace) +
         "\n";
}

}  // namespace gpupool::objects
