// SPDX-License-Identifier: Apache-2.0
#include "csv/source_file.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>
#include <utility>

#include "files/file_error.h"
#include "files/open_below.h"

namespace gpupool::carry::csv {
namespace {

std::int64_t nanoseconds(const timespec& time) {
  return static_cast<std::int64_t>(time.tv_sec) * 1'000'000'000 + time.tv_nsec;
}

}  // namespace

Outcome<SourceFile> SourceFile::open(int root, const std::string& path) {
  auto opened = open_below(root, path);
  if (!opened && opened.error().kind == FailureKind::kNotFound)
    return failed(FailureKind::kInvalid, path + " is not there");
  if (!opened) return tl::unexpected(opened.error());
  base::UniqueFd at = *std::move(opened);
  struct stat info{};
  if (::fstat(at.get(), &info) != 0) return file_failure("cannot look at " + path, errno);
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
