// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace gpupool::kube {

// path as it is if absolute, else below directory.
std::string resolve_path(const std::string& directory, const std::string& path);

}  // namespace gpupool::kube
