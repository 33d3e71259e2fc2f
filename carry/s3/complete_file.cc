// SPDX-License-Identifier: Apache-2.0
#include "s3/complete_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <utility>
#include <vector>

#include "base/unique_fd.h"
#include "digest/sha256.h"
#include "files/directories.h"
#include "files/file_error.h"
#include "files/relative_path.h"

namespace gpupool::carry::s3 {

Outcome<std::optional<std::string>> complete_file(int root, const std::string& path, std::int64_t size,
                                                  const std::stop_token& stop) {
  auto parts = split_path(path);
  if (!parts) return tl::unexpected(parts.error());
  const std::string name = std::move(parts->back());
  parts->pop_back();
  auto directory = make_directories(root, *parts);
  if (!directory) return tl::unexpected(directory.error());
  const base::UniqueFd fd(
      ::openat(directory->get(), name.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  struct stat status{};
  if (!fd.valid() || ::fstat(fd.get(), &status) != 0 || !S_ISREG(status.st_mode) || status.st_size != size)
    return std::optional<std::string>();
  digest::Sha256 hash;
  std::vector<char> buffer(1U << 18U);
  while (true) {
    if (stop.stop_requested()) return failed(FailureKind::kStopped, "stopped");
    const auto got = ::read(fd.get(), buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return file_failure("cannot read " + name, errno);
    if (got == 0) return std::optional<std::string>(hash.hex());
    hash.add({buffer.data(), static_cast<std::size_t>(got)});
  }
}

}  // namespace gpupool::carry::s3
