// SPDX-License-Identifier: Apache-2.0
#include "launcher/checkpoint_dir.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

namespace gpupool::launcher {
namespace {

// As `mkdir -p` does. Other ranks may do the same now. Returns the errno value of the first directory that is
// not there and cannot be made; 0: all are there.
int make_directories(const std::string& path) {
  for (std::size_t end = path.find('/', 1);; end = path.find('/', end + 1)) {
    const std::string directory = path.substr(0, end);
    struct stat info{};
    if (::mkdir(directory.c_str(), 0777) != 0) {
      const int error = errno;
      if (::stat(directory.c_str(), &info) != 0) return error == EEXIST ? errno : error;
    }
    if (end == std::string::npos) return 0;
  }
}

std::string who_cannot(const char* what, const std::string& path) {
  return "user " + std::to_string(::geteuid()) + ", group " + std::to_string(::getegid()) + " cannot " +
         what + " the checkpoint directory " + path;
}

}  // namespace

Expected<void> prepare_checkpoint_dir(const std::string& path) {
  if (const int error = make_directories(path); error != 0)
    return failure(with_errno(who_cannot("create", path), error));
  struct stat info{};
  if (::stat(path.c_str(), &info) == 0 && !S_ISDIR(info.st_mode))
    return failure(with_errno(who_cannot("use", path), ENOTDIR));
  if (::access(path.c_str(), W_OK | X_OK) == 0) return {};
  const int error = errno;
  std::string problem = with_errno(who_cannot("write to", path), error);
  if (error == EACCES) problem += "; securityContext.fsGroup of the template can give the group access";
  return failure(std::move(problem));
}

}  // namespace gpupool::launcher
