// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace gpupool::probes {

// TOML as JSON text, so that only one file pays for the parser. kParse, with the line, if it is no TOML.
base::Result<std::string> toml_as_json(std::string_view toml);

}  // namespace gpupool::probes
