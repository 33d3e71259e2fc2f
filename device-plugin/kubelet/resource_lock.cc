#include "kubelet/resource_lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

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
  const int fd = ::open(path.c_str(), O_RDONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (fd < 0) return failed("open");
  ResourceLock lock(path, fd);
  if (::flock(fd, LOCK_EX | LOCK_NB) != 0) {
    if (errno == EWOULDBLOCK) return std::optional<ResourceLock>{};
    return failed("lock");
  }
  if (!lock.in_place()) return std::optional<ResourceLock>{};  // replaced between open and lock
  return std::optional<ResourceLock>(std::move(lock));
}

ResourceLock::ResourceLock(ResourceLock&& other) noexcept
    : path_(std::move(other.path_)), fd_(std::exchange(other.fd_, -1)) {}

ResourceLock& ResourceLock::operator=(ResourceLock&& other) noexcept {
  std::swap(path_, other.path_);
  std::swap(fd_, other.fd_);
  return *this;
}

ResourceLock::~ResourceLock() {
  if (fd_ >= 0) ::close(fd_);
}

bool ResourceLock::in_place() const { return names_file_of(path_, fd_); }

}  // namespace gpupool::kubelet
