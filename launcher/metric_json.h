// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "launcher/metrics.h"

namespace gpupool::launcher {

// Adds the numbers of a JSON object to `metrics`. Returns false if the text is no JSON object; some numbers
// may have been added then. Objects below the eighth level, arrays and texts that are no numbers are skipped.
bool read_json_numbers(std::string_view object, Metrics& metrics);

}  // namespace gpupool::launcher
