// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "tests/fake-nvml/world.h"

namespace gpupool::fake_nvml {

struct Parsed {
  World world;
  std::string error;  // empty: all is well
};

// The control file, as README.md describes it. Strict: a key that is not known is an error.
Parsed parse_world(const std::string& text);

}  // namespace gpupool::fake_nvml
