// SPDX-License-Identifier: Apache-2.0
// region-times: what a reservation with its commit and release costs, alone and with 32 processes, and what
// taking a slot costs as the first and as the 1,000th process. Prints lines of NAME VALUE UNIT.
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <vector>

#include "limiter/region/ledger.h"
#include "limiter/region/monotonic.h"
#include "tests/limiter/region/region_folder.h"
#include "tests/limiter/region/shared_memory.h"

namespace gpupool::limiter::testing {
namespace {

constexpr std::uint64_t kLimit = 1ULL << 40U;
constexpr unsigned kProcesses = 32;
constexpr unsigned kSamples = 20'000;  // of each process
constexpr unsigned kAttaches = 1'000;

struct Shared {
  std::atomic<unsigned> ready;
  std::atomic<bool> go;
  std::uint32_t times[kProcesses][kSamples];
  std::uint64_t attach[kAttaches];
};

Shared* shared = nullptr;
Ledger ledger;

std::uint64_t percentile(std::vector<std::uint64_t> values, double part) {
  std::sort(values.begin(), values.end());
  return values[static_cast<std::size_t>(static_cast<double>(values.size() - 1) * part)];
}

// One call is too short for the clock: the mean of a hundred.
void alone(const RegionFolder& folder) {
  ledger.attach(folder.path().c_str(), folder.limits());
  std::vector<std::uint64_t> reserve;
  for (int i = 0; i < 2'000; ++i) {
    const std::uint64_t begin = monotonic_ns();
    for (int n = 0; n < 100; ++n) ledger.reserve(0, 1);
    reserve.push_back((monotonic_ns() - begin) / 100);
    for (int n = 0; n < 100; ++n) ledger.cancel(0, 1);
  }
  std::printf("reserve_alone_p50 %lu ns\n", percentile(reserve, 0.5));
  std::printf("reserve_alone_p99 %lu ns\n", percentile(reserve, 0.99));
}

// `pause_us`: the driver call in between, during which the processor is another's.
void worker(const RegionFolder& folder, unsigned number, useconds_t pause_us) {
  ledger.attach(folder.path().c_str(), folder.limits());
  shared->ready.fetch_add(1);
  while (!shared->go) ::usleep(100);
  for (std::uint32_t& time : shared->times[number]) {
    const std::uint64_t begin = monotonic_ns();
    ledger.reserve(0, 1);
    time = static_cast<std::uint32_t>(std::min<std::uint64_t>(monotonic_ns() - begin, ~0U));
    if (pause_us > 0) ::usleep(pause_us);
    ledger.commit(0, Class::kMemory, 1, 1);
    ledger.release(0, Class::kMemory, 1);
  }
  ::_exit(0);
}

void together(const RegionFolder& folder, const char* name, useconds_t pause_us) {
  shared->ready = 0;
  shared->go = false;
  folder.make();
  for (unsigned i = 0; i < kProcesses; ++i) {
    if (::fork() == 0) {
      ledger.forget_after_fork();
      worker(folder, i, pause_us);
    }
  }
  while (shared->ready < kProcesses) ::usleep(100);
  const std::uint64_t begin = monotonic_ns();
  shared->go = true;
  while (::wait(nullptr) > 0) {
  }
  const double seconds = static_cast<double>(monotonic_ns() - begin) / 1e9;
  std::vector<std::uint64_t> all;
  for (const auto& times : shared->times) all.insert(all.end(), std::begin(times), std::end(times));
  std::printf("reserve_32_%s_p50 %lu ns\n", name, percentile(all, 0.5));
  std::printf("reserve_32_%s_p99 %lu ns\n", name, percentile(all, 0.99));
  std::printf("reserve_32_%s_p999 %lu ns\n", name, percentile(all, 0.999));
  std::printf("reserve_32_%s_rate %.0f per_s\n", name, kProcesses * kSamples / seconds);
}

// `warm`: the process has attached to another region before, so that its own pages and the linker's work are
// not measured.
void attaches(const RegionFolder& folder, const char* name, bool warm) {
  const RegionFolder other(kLimit);
  folder.make();
  std::vector<pid_t> pids;
  for (unsigned i = 0; i < kAttaches; ++i) {
    shared->ready = 0;
    const pid_t pid = ::fork();
    if (pid == 0) {
      ledger.forget_after_fork();
      if (warm) {
        ledger.attach(other.path().c_str(), other.limits());
        ledger.forget_after_fork();
      }
      const std::uint64_t begin = monotonic_ns();
      if (!ledger.attach(folder.path().c_str(), folder.limits())) ::_exit(1);
      shared->attach[i] = monotonic_ns() - begin;
      shared->ready = 1;
      for (;;) ::pause();
    }
    pids.push_back(pid);
    while (shared->ready == 0) ::usleep(50);
  }
  for (const pid_t pid : pids) {
    ::kill(pid, SIGKILL);
    ::waitpid(pid, nullptr, 0);
  }
  const std::vector<std::uint64_t> first(shared->attach, shared->attach + 50);
  const std::vector<std::uint64_t> last(shared->attach + kAttaches - 50, shared->attach + kAttaches);
  std::printf("attach_%s_first_50_p50 %lu ns\n", name, percentile(first, 0.5));
  std::printf("attach_%s_last_50_of_1000_p50 %lu ns\n", name, percentile(last, 0.5));
  std::printf("attach_%s_p99 %lu ns\n", name,
              percentile(std::vector<std::uint64_t>(shared->attach, shared->attach + kAttaches), 0.99));
}

}  // namespace
}  // namespace gpupool::limiter::testing

int main() {
  using namespace gpupool::limiter::testing;
  std::setvbuf(stdout, nullptr, _IOLBF, 0);
  shared = share_with_children<Shared>();
  const RegionFolder folder(kLimit);
  attaches(folder, "cold", false);
  attaches(folder, "warm", true);
  folder.make();
  alone(folder);
  together(folder, "no_pause", 0);
  together(folder, "pause_130us", 130);
  return 0;
}
