// SPDX-License-Identifier: Apache-2.0
// region-fits ROUNDS: requests that fit together and come at the same moment, with the bytes of just killed
// processes in the region that must go first. Exit code 0 if none was refused.
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <vector>

#include "limiter/region/ledger.h"
#include "tests/limiter/region/region_folder.h"
#include "tests/limiter/region/shared_memory.h"

namespace gpupool::limiter::testing {
namespace {

constexpr std::uint64_t kLimit = 840;  // divides by all numbers up to 8

struct Shared {
  std::atomic<unsigned> ready;
  std::atomic<bool> go;
  std::atomic<std::uint64_t> granted, refused;
};

Shared* shared = nullptr;
Ledger ledger;

// A process that takes so many bytes and is killed with them.
void leave_bytes(const RegionFolder& folder, std::uint64_t bytes) {
  const pid_t pid = ::fork();
  if (pid == 0) {
    ledger.attach(folder.path().c_str(), folder.limits());
    if (ledger.reserve(0, bytes) == Reservation::kGranted) ledger.commit(0, Class::kMemory, bytes, bytes);
    ::kill(::getpid(), SIGKILL);
  }
  ::waitpid(pid, nullptr, 0);
}

void ask_together(const RegionFolder& folder, unsigned processes, unsigned dead) {
  shared->ready = 0;
  shared->go = false;
  std::vector<pid_t> pids;
  for (unsigned i = 0; i < processes; ++i) {
    const pid_t pid = ::fork();
    if (pid != 0) {
      pids.push_back(pid);
      continue;
    }
    ledger.attach(folder.path().c_str(), folder.limits());
    shared->ready.fetch_add(1);
    while (!shared->go) {
    }
    const bool granted = ledger.reserve(0, kLimit / processes) == Reservation::kGranted;
    (granted ? shared->granted : shared->refused).fetch_add(1);
    for (;;) ::pause();
  }
  while (shared->ready < processes) ::usleep(50);
  // After the others have come, who clear some of the dead.
  for (unsigned i = 0; i < dead; ++i) leave_bytes(folder, kLimit / dead);
  const std::uint64_t before = shared->granted + shared->refused;
  shared->go = true;
  while (shared->granted + shared->refused < before + processes) ::usleep(50);
  for (const pid_t pid : pids) {
    ::kill(pid, SIGKILL);
    ::waitpid(pid, nullptr, 0);
  }
}

}  // namespace
}  // namespace gpupool::limiter::testing

int main(int argc, char** argv) {
  using namespace gpupool::limiter::testing;
  if (argc != 2) return 2;
  shared = share_with_children<Shared>();
  const RegionFolder folder(kLimit);
  const unsigned long rounds = std::strtoul(argv[1], nullptr, 10);
  for (unsigned long i = 0; i < rounds; ++i) {
    const unsigned processes = 2 + static_cast<unsigned>(i % 3) * 3;  // 2, 5, 8
    ask_together(folder, processes, static_cast<unsigned>(i / 3 % 4));
  }
  std::printf("granted=%lu refused=%lu\n", shared->granted.load(), shared->refused.load());
  return shared->refused == 0 && shared->granted > 0 ? 0 : 1;
}
