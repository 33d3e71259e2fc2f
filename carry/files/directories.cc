// SPDX-License-Identifier: Apache-2.0
#include "files/directories.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>

#include "files/file_error.h"

namespace gpupool::carry {

Outcome<base::UniqueFd> open_directory(const std::string& path) {
  base::UniqueFd fd(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!fd.valid()) return file_failure("cannot open " + path, errno);
  return fd;
}

Outcome<base::UniqueFd> make_directories(int root, const std::vector<std::string>& parts) {
  base::UniqueFd at(::openat(root, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!at.valid()) return file_failure("cannot open the directory", errno);
  for (const auto& part : parts) {
    const bool made = ::mkdirat(at.get(), part.c_str(), kDirectoryMode) == 0;
    if (!made && errno != EEXIST) return file_failure("cannot make the directory " + part, errno);
    base::UniqueFd next(::openat(at.get(), part.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    if (!next.valid()) {
      if (errno == ENOTDIR || errno == ELOOP)
        return failed(FailureKind::kInvalid, part + " is a file or a link, and a directory is wanted");
      return file_failure("cannot open the directory " + part, errno);
    }
    // The umask does not count.
    if (made && ::fchmod(next.get(), kDirectoryMode) != 0)
      return file_failure("cannot set the mode of " + part, errno);
    at = std::move(next);
  }
  return at;
}

}  // namespace gpupool::carry
