// SPDX-License-Identifier: Apache-2.0
#include "launcher/file_io.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

#include "base/unique_fd.h"

namespace gpupool::launcher {

std::string with_errno(std::string what, int error) {
  what += ": ";
  what += ::strerrordesc_np(error);
  return what;
}

bool write_all(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(fd, bytes.data(), bytes.size());
    if (written < 0) {
      if (errno == EINTR) continue;
      return false;
    }
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
  return true;
}

std::optional<std::string> read_file(const std::string& path, std::size_t limit) {
  const base::UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd.valid()) return std::nullopt;
  std::string text;
  std::array<char, 4096> block{};
  while (text.size() < limit) {
    const ssize_t got = ::read(fd.get(), block.data(), block.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return std::nullopt;
    if (got == 0) break;
    text.append(block.data(), static_cast<std::size_t>(got));
  }
  if (text.size() > limit) text.resize(limit);
  return text;
}

Expected<void> replace_file(const std::string& path, std::string_view bytes, Durable durable) {
  const std::string temporary = path + ".new";
  if (::unlink(temporary.c_str()) != 0 && errno != ENOENT)  // of an earlier start
    return failure(with_errno("cannot create " + temporary, errno));
  const base::UniqueFd fd(::open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644));
  if (!fd.valid()) return failure(with_errno("cannot create " + temporary, errno));
  const bool sync = durable == Durable::kYes;
  // By descriptor, so that the umask does not matter.
  if (::fchmod(fd.get(), 0644) == 0 && write_all(fd.get(), bytes) && (!sync || ::fdatasync(fd.get()) == 0) &&
      ::rename(temporary.c_str(), path.c_str()) == 0) {
    return sync ? sync_directory(path.substr(0, path.rfind('/'))) : Expected<void>();
  }
  const int error = errno;
  ::unlink(temporary.c_str());
  return failure(with_errno("cannot store " + path, error));
}

Expected<void> sync_directory(const std::string& path) {
  const base::UniqueFd fd(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!fd.valid() || ::fsync(fd.get()) != 0) return failure(with_errno("cannot sync " + path, errno));
  return {};
}

}  // namespace gpupool::launcher
