// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/base/inotify_limits.h"

#include <sys/inotify.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>

namespace gpupool::test {
namespace {

std::atomic<bool> no_instances = false;
std::atomic<bool> no_watches = false;

int refused(int error) {
  errno = error;
  return -1;
}

}  // namespace

RefusedInotify::RefusedInotify(What what) { (what == What::kInstances ? no_instances : no_watches) = true; }

RefusedInotify::~RefusedInotify() { no_instances = no_watches = false; }

}  // namespace gpupool::test

// In place of libc's: what a program defines comes before what its libraries do.
extern "C" {

int inotify_init1(int flags) noexcept {
  if (gpupool::test::no_instances) return gpupool::test::refused(EMFILE);
  return static_cast<int>(::syscall(SYS_inotify_init1, flags));
}

int inotify_add_watch(int fd, const char* name, uint32_t mask) noexcept {
  if (gpupool::test::no_watches) return gpupool::test::refused(ENOSPC);
  return static_cast<int>(::syscall(SYS_inotify_add_watch, fd, name, mask));
}
}
