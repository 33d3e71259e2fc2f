// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "failure/failure.h"

namespace gpupool::carry {

// Writes the termination message of this container.
Outcome<void> write_termination_log(const std::string& path, const std::string& text);

}  // namespace gpupool::carry
