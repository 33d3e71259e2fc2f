// SPDX-License-Identifier: Apache-2.0
#include "kube/config/environment.h"

#include <cstdlib>

namespace gpupool::kube {

std::string environment(const char* name) {
  const char* value = std::getenv(name);  // NOLINT(concurrency-mt-unsafe)
  return value == nullptr ? std::string() : std::string(value);
}

}  // namespace gpupool::kube
