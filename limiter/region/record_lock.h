// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fcntl.h>
#include <unistd.h>

#include <cstdint>

namespace gpupool::limiter::record_lock {

// Locks on one byte of a region's file that tell whether a process lives. They are classic POSIX record
// locks, which belong to the process: a forked child does not have its parent's, and the kernel gives them
// back at death and, as the file is opened with O_CLOEXEC, at exec. Locks of the open file description
// (F_OFD_SETLK) would live on in every forked child, and a dead process's bytes would stay charged for as
// long as any child of it runs. In return a classic lock is lost when the process closes any descriptor of
// the file: the limiter keeps one and never opens a second; for a program that closes all descriptors see
// Ledger.
//
// No PIDs are used, so namespaces and reuse of PIDs do not matter.

inline struct flock one_byte(short type, std::int64_t byte) {
  struct flock lock{};
  lock.l_type = type;
  lock.l_whence = SEEK_SET;
  lock.l_start = byte;
  lock.l_len = 1;
  return lock;
}

// Takes the lock for this process unless another has it. A process that has it already gets it again.
inline bool try_take(int fd, std::int64_t byte) {
  struct flock lock = one_byte(F_WRLCK, byte);
  return ::fcntl(fd, F_SETLK, &lock) == 0;
}

inline void give_back(int fd, std::int64_t byte) {
  struct flock lock = one_byte(F_UNLCK, byte);
  ::fcntl(fd, F_SETLK, &lock);
}

// Whether a process other than this one has it; true also if that cannot be found out.
inline bool held_by_other(int fd, std::int64_t byte) {
  struct flock lock = one_byte(F_WRLCK, byte);
  return ::fcntl(fd, F_GETLK, &lock) != 0 || lock.l_type != F_UNLCK;
}

// Whether any process has it, as an observer sees it who takes no such locks himself. `fd` may be open for
// reading alone.
inline bool held(int fd, std::int64_t byte) {
  struct flock lock = one_byte(F_WRLCK, byte);
  return ::fcntl(fd, F_OFD_GETLK, &lock) == 0 && lock.l_type != F_UNLCK;
}

}  // namespace gpupool::limiter::record_lock
