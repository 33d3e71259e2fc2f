// SPDX-License-Identifier: Apache-2.0
#include "tests/limiter/region/shadow.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>

#include "limiter/region/kill_point.h"
#include "limiter/region/record_lock.h"

namespace gpupool::limiter::testing {

class Shadow::Locked {
 public:
  explicit Locked(pthread_mutex_t& mutex) : mutex_(mutex) {
    if (::pthread_mutex_lock(&mutex) == EOWNERDEAD) ::pthread_mutex_consistent(&mutex);
  }
  ~Locked() { ::pthread_mutex_unlock(&mutex_); }
  Locked(const Locked&) = delete;
  Locked& operator=(const Locked&) = delete;

 private:
  pthread_mutex_t& mutex_;
};

Shadow::Shadow() : fd_(::memfd_create("shadow", MFD_CLOEXEC)) {
  if (fd_ < 0 || ::ftruncate(fd_, sizeof(Shared)) != 0) std::exit(2);
  shared_ = static_cast<Shared*>(::mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED, fd_, 0));
  if (shared_ == MAP_FAILED) std::exit(2);
  pthread_mutexattr_t attributes;
  ::pthread_mutexattr_init(&attributes);
  ::pthread_mutexattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
  ::pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST);
  ::pthread_mutex_init(&shared_->mutex, &attributes);
}

void Shadow::enter(unsigned worker) {
  const Locked locked(shared_->mutex);
  shared_->bytes[worker] = 0;
  if (!record_lock::try_take(fd_, worker)) std::abort();
}

std::uint64_t Shadow::take(unsigned worker, std::uint64_t bytes) {
  const Locked locked(shared_->mutex);
  shared_->bytes[worker] += bytes;
  std::uint64_t sum = 0;
  for (unsigned i = 0; i < kMaxWorkers; ++i) {
    if (shared_->bytes[i] == 0) continue;
    if (i == worker || record_lock::held_by_other(fd_, i)) sum += shared_->bytes[i];
  }
  return sum;
}

void Shadow::give_back(unsigned worker, std::uint64_t bytes) {
  const Locked locked(shared_->mutex);
  shared_->bytes[worker] -= bytes;
}

}  // namespace gpupool::limiter::testing
