// SPDX-License-Identifier: Apache-2.0
#include "csv/source_file.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>
#include <utility>

#include "files/file_error.h"
#include "files/relative_path.h"

namespace gpupool::carry::csv {
namespace {

std::int64_t nanoseconds(const timespec& time) {
  return static_cast<std::int64_t>(time.tv_sec) * 1'000'000'000 + time.tv_nsec;
}

tl::unexpected<Failure> not_opened(const std::string& path, int code) {
  if (code == ENOENT) return failed(FailureKind::kInvalid, path + " is not there");
  if (code == ELOOP || code == ENOTDIR)
    return failed(FailureKind::kInvalid, path + " leads over a link or a file, and directories are wanted");
  return file_failure("cannot open " + path, code);
}

}  // namespace

Outcome<SourceFile> SourceFile::open(int root, const std::string& path) {
  auto parts = split_path(path);
  if (!parts) return tl::unexpected(parts.error());
  base::UniqueFd at(::openat(root, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!at.valid()) return file_failure("cannot open the directory of " + path, errno);
  for (std::size_t i = 0; i < parts->size(); ++i) {
    // Without O_NONBLOCK a named pipe would wait for its writer.
    const int kind = i + 1 < parts->size() ? O_DIRECTORY : O_NONBLOCK | O_NOCTTY;
    base::UniqueFd next(::openat(at.get(), (*parts)[i].c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC | kind));
    if (!next.valid()) return not_opened(path, errno);
    at = std::move(next);
  }
  struct stat info{};
  if (::fstat(at.get(), &info) != 0) return file_failure("cannot look at " + path, errno);
  if (!S_ISREG(info.st_mode)) return failed(FailureKind::kInvalid, path + " is not a plain file");
  ::posix_fadvise(at.get(), 0, 0, POSIX_FADV_SEQUENTIAL);
  SourceFile file(std::move(at), path);
  file.size_ = info.st_size;
  file.changed_ = nanoseconds(info.st_mtim);
  return file;
}

Outcome<void> SourceFile::check_unchanged() const {
  struct stat info{};
  if (::fstat(fd_.get(), &info) != 0) return file_failure("cannot look at " + name_, errno);
  if (info.st_size != size_ || nanoseconds(info.st_mtim) != changed_)
    return failed(FailureKind::kMismatch, name_ + " changed while it was read");
  return {};
}

}  // namespace gpupool::carry::csv
