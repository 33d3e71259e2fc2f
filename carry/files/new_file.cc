// SPDX-License-Identifier: Apache-2.0
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "files/directories.h"
#include "files/file_error.h"
#include "files/new_tree.h"

namespace gpupool::carry {

Outcome<void> NewFile::write(std::int64_t offset, std::string_view bytes) {
  const auto end = offset + static_cast<std::int64_t>(bytes.size());
  if (offset < size_ || end < offset)
    return failed(FailureKind::kInvalid, "has data that is not in its order");
  if (auto taken = budget_->take(end - size_); !taken) return taken;
  *taken_ += end - size_;
  size_ = end;
  while (!bytes.empty()) {
    const auto wrote = ::pwrite(fd_.get(), bytes.data(), bytes.size(), offset);
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote < 0) return file_failure("cannot write " + name_, errno);
    offset += wrote;
    bytes.remove_prefix(static_cast<std::size_t>(wrote));
  }
  return {};
}

Outcome<void> NewFile::extend(std::int64_t size) {
  if (size <= size_) return {};
  if (auto taken = budget_->take(size - size_); !taken) return taken;
  *taken_ += size - size_;
  size_ = size;
  if (::ftruncate(fd_.get(), size) != 0) return file_failure("cannot write " + name_, errno);
  return {};
}

Outcome<void> NewFile::finish(bool program) {
  if (::fchmod(fd_.get(), static_cast<mode_t>(program ? kProgramMode : kFileMode)) != 0)
    return file_failure("cannot finish " + name_, errno);
  // Some file systems tell of a full disk only here.
  const base::UniqueFd fd = std::move(fd_);
  const int copy = ::dup(fd.get());
  if (copy >= 0 && ::close(copy) != 0) return file_failure("cannot finish " + name_, errno);
  return {};
}

}  // namespace gpupool::carry
