// SPDX-License-Identifier: Apache-2.0
#include "nvidia/nvml/driver_load.h"

#include <sys/stat.h>

#include <fstream>

namespace gpupool::nvidia {

std::string driver_load(const std::string& sysfs, const std::string& version) {
  const std::string module = sysfs + "/module/nvidia";
  std::string loaded;
  if (!(std::ifstream(module + "/version") >> loaded) || loaded != version) return {};
  struct stat seen{};
  if (stat(module.c_str(), &seen) != 0) return {};
  return std::to_string(seen.st_ino);
}

}  // namespace gpupool::nvidia
