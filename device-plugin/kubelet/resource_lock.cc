// SPDX-License-Identifier: Apache-2.0
#include "kubelet/resource_lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>

#include <cerrno>
#include <system_error>
#include <utility>

namespace gpupool::kubelet {

namespace {

bool names_file_of(const std::string& path, int fd) {
  struct stat by_path{};
  struct stat by_fd{};
  return ::stat(path.c_str(), &by_path) == 0 && ::fstat(fd, &by_fd) == 0 && by_path.st_dev == by_fd.st_dev &&
         by_path.st_ino == by_fd.st_ino;
}

}  // namespace

base::Result<std::optional<ResourceLock>> ResourceLock::try_take(const std::string& path) {
  const auto failed = [&](const char* what) {
    return base::fail(base::ErrorCode::kIo, "cannot " + std::string(what) + " " + path + ": " +
                                                std::generic_category().message(errno));
  };
  // Not for writing: those who watch the folder would be woken whenever one of them looks at the lock.
  base::UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!fd.valid()) return failed("open");
  if (::flock(fd.get(), LOCK_EX | LOCK_NB) != 0) {
    if (errno == EWOULDBLOCK) return std::optional<ResourceLock>{};
    return failed("lock");
  }
  ResourceLock lock(path, std::move(fd));
  if (!lock.in_place()) return std::optional<ResourceLock>{};  // replaced between open and lock
  return std::optional<ResourceLock>(std::move(lock));
}

bool ResourceLock::in_place() const { return names_file_of(path_, fd_.get()); }

}  // namespace gpupool::kubelet
