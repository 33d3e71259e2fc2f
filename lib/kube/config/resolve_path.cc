// SPDX-License-Identifier: Apache-2.0
#include "kube/config/resolve_path.h"

#include <filesystem>

namespace gpupool::kube {

std::string resolve_path(const std::string& directory, const std::string& path) {
  return (std::filesystem::path(directory) / path).lexically_normal().string();
}

}  // namespace gpupool::kube
