// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace gpupool::kube {

// Returns the variable's value, or an empty string. gpupool does not change the environment once threads run.
std::string environment(const char* name);

}  // namespace gpupool::kube
