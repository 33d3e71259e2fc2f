#include "inventory/driver_load.h"

#include <sys/stat.h>

namespace gpupool::inventory {

std::string driver_load(const std::string& sysfs) {
  struct stat seen{};
  if (stat((sysfs + "/module/nvidia").c_str(), &seen) != 0) return {};
  return std::to_string(seen.st_ino);
}

}  // namespace gpupool::inventory
