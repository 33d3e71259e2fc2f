// SPDX-License-Identifier: Apache-2.0
#include "probes/toml_text.h"

#include <toml++/toml.h>

#include <sstream>

namespace gpupool::probes {

base::Result<std::string> toml_as_json(std::string_view toml) {
  try {
    const toml::table table = toml::parse(toml);
    std::ostringstream text;
    text << toml::json_formatter(table);
    return text.str();
  } catch (const toml::parse_error& error) {
    return base::fail(base::ErrorCode::kParse, "line " + std::to_string(error.source().begin.line) + ": " +
                                                   std::string(error.description()));
  }
}

}  // namespace gpupool::probes
