// SPDX-License-Identifier: Apache-2.0
#include "limiter/limits/limits.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

namespace gpupool::limiter {
namespace {

Limits unreadable() {
  Limits limits{};
  limits.source = Limits::Source::kBad;
  limits.problem = "the file cannot be read";
  return limits;
}

// A limits file of 16 devices has some 2 KiB; no heap is used.
constexpr std::size_t kReadAtMost = 16UL * 1024;

Limits read_file(int fd) {
  char content[kReadAtMost];
  std::size_t size = 0;
  for (;;) {
    if (size == sizeof(content)) return unreadable();
    const ssize_t count = ::read(fd, content + size, sizeof(content) - size);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return unreadable();
    if (count == 0) break;
    size += static_cast<std::size_t>(count);
  }
  return parse_limits({content, size});
}

}  // namespace

bool Limits::limits_anything() const {
  if (source == Source::kBad) return true;
  for (unsigned i = 0; i < count; ++i) {
    if (devices[i].limited) return true;
  }
  return false;
}

Limits load_limits(const char* path, const char* const* environment) {
  const int fd = ::open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0) return errno == ENOENT || errno == ENOTDIR ? parse_environment(environment) : unreadable();
  const Limits limits = read_file(fd);
  ::close(fd);
  return limits;
}

unsigned find_device(const Limits& limits, std::string_view uuid) {
  for (unsigned i = 0; i < limits.count; ++i) {
    if (std::string_view(limits.devices[i].uuid) == uuid) return i;
  }
  return limits.count;
}

}  // namespace gpupool::limiter
