// SPDX-License-Identifier: Apache-2.0
#include "files/open_below.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>
#include <string>

#include "files/file_error.h"
#include "files/relative_path.h"

namespace gpupool::carry {

Outcome<base::UniqueFd> open_below(int root, std::string_view path) {
  const std::string shown(path);
  const auto parts = split_path(path);
  if (!parts) return tl::unexpected(parts.error());
  base::UniqueFd at(::openat(root, ".", O_PATH | O_DIRECTORY | O_CLOEXEC));
  for (std::size_t i = 0; i < parts->size() && at.valid(); ++i) {
    // A pipe must not block.
    const int kind = i + 1 < parts->size() ? O_PATH | O_DIRECTORY : O_RDONLY | O_NONBLOCK;
    at = base::UniqueFd(::openat(at.get(), (*parts)[i].c_str(), kind | O_NOFOLLOW | O_CLOEXEC));
  }
  if (!at.valid()) {
    if (errno == ENOENT) return failed(FailureKind::kNotFound, shown + " does not exist");
    if (errno == ELOOP || errno == ENOTDIR)
      return failed(FailureKind::kInvalid, shown + " is a link, or leads through one or through a file");
    return file_failure("cannot open " + shown, errno);
  }
  struct stat info{};
  if (::fstat(at.get(), &info) != 0) return file_failure("cannot read " + shown, errno);
  if (!S_ISREG(info.st_mode)) return failed(FailureKind::kInvalid, shown + " is no regular file");
  return at;
}

}  // namespace gpupool::carry
