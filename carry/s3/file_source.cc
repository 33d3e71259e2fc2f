// SPDX-License-Identifier: Apache-2.0
#include "s3/file_source.h"

#include <unistd.h>

#include <cerrno>
#include <vector>

#include "files/file_error.h"

namespace gpupool::carry::s3 {

Outcome<FileSource> FileSource::open(int fd, std::string name) {
  struct stat before{};
  if (::fstat(fd, &before) != 0) return file_failure("cannot read " + name, errno);
  if (!S_ISREG(before.st_mode)) return failed(FailureKind::kInvalid, name + " is no regular file");
  return FileSource(fd, std::move(name), before);
}

Outcome<std::size_t> FileSource::read(std::int64_t offset, char* to, std::size_t capacity) {
  ssize_t got = -1;
  do {
    got = ::pread(fd_, to, capacity, begin_ + offset);
  } while (got < 0 && errno == EINTR);
  if (got < 0) return file_failure("cannot read " + name_, errno);
  if (got == 0) return changed();
  const std::int64_t known = hashed_ - (begin_ + offset);
  if (known >= 0 && known < got) {
    hash_.add({to + known, static_cast<std::size_t>(got - known)});
    hashed_ += got - known;
  }
  return static_cast<std::size_t>(got);
}

Outcome<std::string> FileSource::finish() {
  struct stat after{};
  if (::fstat(fd_, &after) != 0) return file_failure("cannot read " + name_, errno);
  if (after.st_size != before_.st_size || after.st_mtim.tv_sec != before_.st_mtim.tv_sec ||
      after.st_mtim.tv_nsec != before_.st_mtim.tv_nsec)
    return changed();
  if (hashed_ != before_.st_size) {  // only if a server answers without reading all
    choose(0, before_.st_size);
    std::vector<char> buffer(1U << 16U);
    while (hashed_ < before_.st_size) {
      auto got = read(hashed_, buffer.data(), buffer.size());
      if (!got) return tl::unexpected(got.error());
    }
  }
  return hash_.hex();
}

tl::unexpected<Failure> FileSource::changed() const {
  return failed(FailureKind::kMismatch, name_ + " changed while it was read");
}

}  // namespace gpupool::carry::s3
