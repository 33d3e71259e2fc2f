// SPDX-License-Identifier: Apache-2.0
// region-turns ROUNDS: processes ask at the same moment for more than half of the limit each. The first that
// has added up what is used stops there until each other one waits for the region's lock or has its answer.
// So without the lock others are granted meanwhile, in every round. Exit code 0 if one process in each round
// was granted, and the sum of what the living have was never over the limit.
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstring>

#include "limiter/region/ledger.h"
#include "limiter/region/monotonic.h"
#include "tests/limiter/region/region_folder.h"
#include "tests/limiter/region/shared_memory.h"

extern "C" void gpupool_kill_point(const char* name);

namespace gpupool::limiter::testing {
namespace {

constexpr std::uint64_t kLimit = 1000;
constexpr std::uint64_t kEach = 501;
constexpr unsigned kProcesses = 4;
constexpr std::uint64_t kLongest = 20'000'000'000;  // nanoseconds of a wait

struct Shared {
  std::atomic<unsigned> ready, first, answered;
  std::atomic<unsigned> passed;  // those that wait for the lock or have their answer
  std::atomic<std::uint64_t> held, granted, over_limit, stuck;
};

Shared* shared = nullptr;
Ledger ledger;
bool has_passed = false;  // this process is counted in `passed`

void wait_until(const std::atomic<unsigned>& counter, unsigned value) {
  const std::uint64_t begin = monotonic_ns();
  while (counter < value) {
    if (monotonic_ns() - begin > kLongest) {
      shared->stuck.fetch_add(1);
      return;
    }
    ::usleep(20);
  }
}

void pass() {
  if (!has_passed) shared->passed.fetch_add(1);
  has_passed = true;
}

[[noreturn]] void ask(const RegionFolder& folder) {
  if (!ledger.attach(folder.path().c_str(), folder.limits())) ::_exit(1);
  shared->ready.fetch_add(1);
  wait_until(shared->ready, kProcesses);
  if (ledger.reserve(0, kEach) == Reservation::kGranted) {
    shared->granted.fetch_add(1);
    if (shared->held.fetch_add(kEach) + kEach > kLimit) shared->over_limit.fetch_add(1);
  }
  pass();
  // What it has stays charged until all have their answer.
  shared->answered.fetch_add(1);
  wait_until(shared->answered, kProcesses);
  ::_exit(0);
}

// False: a process failed.
bool play_round(const RegionFolder& folder) {
  for (auto* counter : {&shared->ready, &shared->first, &shared->passed, &shared->answered}) *counter = 0;
  shared->held = 0;
  for (unsigned i = 0; i < kProcesses; ++i) {
    if (::fork() == 0) ask(folder);
  }
  bool good = true;
  int status = 0;
  while (::wait(&status) > 0) good = good && status == 0;
  return good;
}

}  // namespace
}  // namespace gpupool::limiter::testing

extern "C" void gpupool_kill_point(const char* name) {
  using namespace gpupool::limiter::testing;
  // Only after all have attached: that takes the lock too.
  if (shared->ready < kProcesses) return;
  if (std::strcmp(name, "lock.waiting") == 0) pass();
  if (std::strcmp(name, "reserve.summed") == 0 && shared->first.fetch_add(1) == 0)
    wait_until(shared->passed, kProcesses - 1);
}

int main(int argc, char** argv) {
  using namespace gpupool::limiter::testing;
  if (argc != 2) return 2;
  shared = share_with_children<Shared>();
  const RegionFolder folder(kLimit);
  const unsigned long rounds = std::strtoul(argv[1], nullptr, 10);
  bool good = rounds > 0;
  for (unsigned long i = 0; i < rounds && shared->stuck == 0; ++i) good = play_round(folder) && good;
  std::printf("rounds=%lu granted=%lu over_limit=%lu stuck=%lu\n", rounds, shared->granted.load(),
              shared->over_limit.load(), shared->stuck.load());
  return good && shared->granted == rounds && shared->over_limit == 0 && shared->stuck == 0 ? 0 : 1;
}
