// SPDX-License-Identifier: Apache-2.0
#include "limiter/region/leaving.h"

#include <fcntl.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace gpupool::limiter {
namespace {

constexpr unsigned long kExiting = 0x4;  // PF_EXITING of the kernel
// Fields of /proc/<pid>/stat behind the program's name, which may hold anything: the state is the first.
constexpr int kFlags = 6;
constexpr int kThreads = 17;

}  // namespace

bool process_is_leaving(std::int32_t pid) {
  if (pid <= 0) return false;
  char text[512];
  std::snprintf(text, sizeof(text), "/proc/%d/stat", pid);
  const int fd = ::open(text, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return false;
  const ssize_t size = ::read(fd, text, sizeof(text) - 1);
  ::close(fd);
  if (size <= 0) return false;
  text[size] = '\0';
  const char* at = std::strrchr(text, ')');
  if (at == nullptr || at[1] != ' ') return false;
  const char state = at[2];
  unsigned long flags = 0;
  unsigned long threads = 0;
  at += 2;
  for (int field = 0; field <= kThreads && at != nullptr; ++field) {
    if (field == kFlags) flags = std::strtoul(at, nullptr, 10);
    if (field == kThreads) threads = std::strtoul(at, nullptr, 10);
    at = std::strchr(at, ' ');
    if (at != nullptr) ++at;
  }
  // The first thread waits as a zombie for the others, of which the last closes the files.
  const bool ended = (state == 'Z' || state == 'X') && threads <= 1;
  return (flags & kExiting) != 0 && !ended;
}

}  // namespace gpupool::limiter
