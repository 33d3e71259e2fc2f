// SPDX-License-Identifier: Apache-2.0
#include "base/file_identity.h"

#include <sys/stat.h>

namespace gpupool::base {

FileIdentity identify(const std::string& path, Links links) {
  struct stat status{};
  const int result =
      links == Links::kFollowed ? ::stat(path.c_str(), &status) : ::lstat(path.c_str(), &status);
  if (result != 0) return {};
  return {.device = status.st_dev,
          .inode = status.st_ino,
          .modified_ns = status.st_mtim.tv_sec * 1'000'000'000 + status.st_mtim.tv_nsec};
}

bool is_socket(const std::string& path) {
  struct stat status{};
  return ::lstat(path.c_str(), &status) == 0 && S_ISSOCK(status.st_mode);
}

}  // namespace gpupool::base
