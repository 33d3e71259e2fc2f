// SPDX-License-Identifier: Apache-2.0
// region-leaves ROUNDS: a process with all of the limit is killed and takes long to close its files, as one
// whose GPU memory the driver frees. Its record lock is gone by then. Exit code 0 if its bytes were counted
// until it had ended, and granted after that.
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstdio>
#include <cstdlib>

#include "limiter/region/layout.h"
#include "limiter/region/leaving.h"
#include "limiter/region/ledger.h"
#include "limiter/region/record_lock.h"
#include "tests/limiter/region/region_folder.h"

namespace gpupool::limiter::testing {
namespace {

constexpr std::uint64_t kLimit = 1000;
constexpr unsigned long kMostTries = 100;  // for a round in which the moment was seen
constexpr rlim_t kMostFiles = 100'000;     // to be closed

Ledger ledger;

// Takes all bytes, opens its files, writes a byte to `ready` and waits for its end.
[[noreturn]] void hold_all(const RegionFolder& folder, int ready) {
  if (!ledger.attach(folder.path().c_str(), folder.limits()) ||
      ledger.reserve(0, kLimit) != Reservation::kGranted) {
    ::_exit(1);
  }
  ledger.commit(0, Class::kMemory, kLimit, kLimit);
  rlimit files{};
  ::getrlimit(RLIMIT_NOFILE, &files);
  files.rlim_cur = std::min(files.rlim_max, kMostFiles);
  ::setrlimit(RLIMIT_NOFILE, &files);
  const int null = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
  while (::fcntl(null, F_DUPFD_CLOEXEC, 0) >= 0) {
  }
  if (::write(ready, "", 1) != 1) ::_exit(1);
  for (;;) ::pause();
}

struct Round {
  bool without_lock;  // it was seen to end without its record lock
  bool granted;
  bool too_early;
};

// `victim` has all bytes, in the first slot.
Round take_from(pid_t victim, int region) {
  ::kill(victim, SIGKILL);
  while (record_lock::held(region, kSlotLockBase)) {
  }
  Round round{};
  round.without_lock = process_is_leaving(victim);
  round.granted = ledger.reserve(0, kLimit) == Reservation::kGranted;
  round.too_early = process_is_leaving(victim);
  return round;
}

// A process that holds all bytes; ends the program if it does not come to that.
pid_t start_victim(const RegionFolder& folder) {
  std::array<int, 2> ready{};
  if (::pipe2(ready.data(), O_CLOEXEC) != 0) std::exit(2);
  const pid_t victim = ::fork();
  if (victim == 0) hold_all(folder, ready[1]);
  ::close(ready[1]);
  char byte = 0;
  if (::read(ready[0], &byte, 1) != 1) std::exit(2);
  ::close(ready[0]);
  return victim;
}

Round play() {
  const RegionFolder folder(kLimit);
  const pid_t victim = start_victim(folder);
  const pid_t heir = ::fork();
  if (heir == 0) {
    ledger.attach(folder.path().c_str(), folder.limits());
    const int region = ::open(folder.path().c_str(), O_RDONLY | O_CLOEXEC);
    const Round round = take_from(victim, region);
    ::_exit((round.without_lock ? 1 : 0) | (round.granted ? 2 : 0) | (round.too_early ? 4 : 0));
  }
  int status = 0;
  ::waitpid(heir, &status, 0);
  ::waitpid(victim, nullptr, 0);
  const int bits = WEXITSTATUS(status);
  return {(bits & 1) != 0, (bits & 2) != 0, (bits & 4) != 0};
}

}  // namespace
}  // namespace gpupool::limiter::testing

int main(int argc, char** argv) {
  using namespace gpupool::limiter::testing;
  if (argc != 2) return 2;
  const unsigned long rounds = std::strtoul(argv[1], nullptr, 10);
  unsigned long without_lock = 0;
  unsigned long granted = 0;
  unsigned long too_early = 0;
  unsigned long played = 0;
  for (; without_lock < rounds && played < rounds * kMostTries; ++played) {
    const Round round = play();
    without_lock += round.without_lock ? 1 : 0;
    granted += round.granted ? 1 : 0;
    too_early += round.too_early ? 1 : 0;
  }
  std::printf("seen without lock=%lu granted=%lu too early=%lu\n", without_lock, granted, too_early);
  return without_lock == rounds && granted == played && too_early == 0 ? 0 : 1;
}
