// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fcntl.h>

#include <cerrno>

#include "tests/fake-cuda/state.h"

namespace gpupool::fake_cuda {

// Locks are on bytes behind the end of the file. The second kind, an ordinary record lock, tells readers in
// other PID namespaces which process it is.
inline constexpr off_t kTableLock = 1LL << 40;
inline constexpr off_t kSlotLocks = 1LL << 41;
inline constexpr off_t kPidLocks = 1LL << 42;

inline struct flock byte_lock(short type, off_t at) {
  struct flock lock{};
  lock.l_type = type;
  lock.l_whence = SEEK_SET;
  lock.l_start = at;
  lock.l_len = 1;
  return lock;
}

// Keeps all other processes from changing who holds what.
class StateFile::Lock {
 public:
  explicit Lock(const StateFile& state) : state_(state) { set(F_WRLCK); }
  ~Lock() { set(F_UNLCK); }
  Lock(const Lock&) = delete;
  Lock& operator=(const Lock&) = delete;

 private:
  void set(short type) const {
    struct flock lock = byte_lock(type, kTableLock);
    while (fcntl(state_.file_, F_OFD_SETLKW, &lock) != 0 && errno == EINTR) {
    }
  }
  const StateFile& state_;
};

}  // namespace gpupool::fake_cuda
