// SPDX-License-Identifier: Apache-2.0
// region-damage KIND SEED [MILLISECONDS]: 8 processes use a region while it is damaged, and 2 another
// container's. Kinds: random (the whole file, once), storm (the whole file, again and again), lock (all
// behind the header's first 64 bytes, likewise), zeros, read-only, truncated. Exit code 0 if nobody of the 8
// crashes (but for SIGBUS when truncated) or hangs, new reservations are refused where the damage is known to
// reach the header, and the other container does not notice.
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <random>
#include <string_view>
#include <vector>

#include "limiter/region/ledger.h"
#include "limiter/region/monotonic.h"
#include "tests/limiter/region/region_folder.h"
#include "tests/limiter/region/shared_memory.h"

namespace gpupool::limiter::testing {
namespace {

constexpr std::uint64_t kLimit = 1000;
constexpr unsigned kProcesses = 8;
constexpr unsigned kOthers = 2;
constexpr std::uint64_t kSecond = 1'000'000'000;

struct Shared {
  std::atomic<unsigned> ready;
  std::atomic<bool> end;
  std::atomic<std::uint64_t> granted_last;  // of the last 100 reservations of each of the 8
  std::atomic<std::uint64_t> others_refused;
};

Shared* shared = nullptr;
Ledger ledger;

bool use_once() {
  if (ledger.reserve(0, 10) != Reservation::kGranted) return false;
  ledger.commit(0, Class::kMemory, 10, 10);
  ledger.release(0, Class::kMemory, 10);
  return true;
}

[[noreturn]] void use(const RegionFolder& folder, bool other) {
  std::signal(SIGBUS, SIG_DFL);  // sanitizers have handlers
  if (!ledger.attach(folder.path().c_str(), folder.limits())) ::_exit(3);
  shared->ready.fetch_add(1);
  while (!shared->end) {
    if (!use_once() && other) shared->others_refused.fetch_add(1);
    ledger.used(0);
    ledger.unknown_name("cuUnknown");
    ledger.end_wait(0, ledger.begin_wait(0, 1));
  }
  for (int i = 0; i < 100; ++i) {
    const bool granted = use_once();
    if (granted && !other) shared->granted_last.fetch_add(1);
  }
  ::_exit(0);
}

void write_random(const std::string& path, std::size_t from, std::mt19937_64& random) {
  static std::vector<std::uint64_t> bytes(sizeof(Region) / sizeof(std::uint64_t));
  for (auto& word : bytes) word = random();
  const int fd = ::open(path.c_str(), O_WRONLY | O_CLOEXEC);
  if (::pwrite(fd, reinterpret_cast<const char*>(bytes.data()) + from, sizeof(Region) - from,
               static_cast<off_t>(from)) < 0) {
    std::perror("cannot damage the region");
  }
  ::close(fd);
}

// The exit of a new process that finds the region like this, as an ordinary user.
bool newcomer_is_refused(const RegionFolder& folder) {
  const pid_t pid = ::fork();
  if (pid == 0) {
    if (::setgid(65534) != 0 || ::setuid(65534) != 0) ::_exit(2);
    ledger.attach(folder.path().c_str(), folder.limits());
    ::_exit(ledger.reserve(0, 1) == Reservation::kRefused && ledger.state() != 0 ? 0 : 1);
  }
  int status = 0;
  ::waitpid(pid, &status, 0);
  return status == 0;
}

void damage(const RegionFolder& folder, std::string_view kind, std::uint64_t seed, std::uint64_t storm_ns) {
  std::mt19937_64 random(seed);
  const std::uint64_t end = monotonic_ns() + storm_ns;
  if (kind == "random") write_random(folder.path(), 0, random);
  if (kind == "zeros") std::filesystem::resize_file(folder.path(), sizeof(Region));
  if (kind == "zeros") {
    const std::vector<char> zeros(sizeof(Region));
    const int fd = ::open(folder.path().c_str(), O_WRONLY | O_CLOEXEC);
    if (::pwrite(fd, zeros.data(), zeros.size(), 0) < 0) std::perror("cannot damage the region");
    ::close(fd);
  }
  if (kind == "read-only") ::chmod(folder.path().c_str(), 0444);
  if (kind == "truncated") std::filesystem::resize_file(folder.path(), seed % 2 == 0 ? 0 : 4096);
  while ((kind == "storm" || kind == "lock") && monotonic_ns() < end) {
    write_random(folder.path(), kind == "storm" ? 0 : 64, random);
  }
}

struct Ends {
  unsigned bad = 0, bus_errors = 0, hung = 0;
};

// Waits up to 25 s: a lock that looks like a living owner's costs 10.
Ends wait_for(const std::vector<pid_t>& pids) {
  Ends ends;
  const std::uint64_t deadline = monotonic_ns() + 25 * kSecond;
  for (const pid_t pid : pids) {
    int status = 0;
    pid_t done = 0;
    while ((done = ::waitpid(pid, &status, WNOHANG)) == 0 && monotonic_ns() < deadline) ::usleep(1000);
    if (done == 0) {
      ++ends.hung;
      ::kill(pid, SIGKILL);
      ::waitpid(pid, nullptr, 0);
    } else if (WIFSIGNALED(status) && WTERMSIG(status) == SIGBUS) {
      ++ends.bus_errors;
    } else if (status != 0) {
      ++ends.bad;
    }
  }
  return ends;
}

int run(std::string_view kind, std::uint64_t seed, std::uint64_t storm_ns) {
  const RegionFolder folder(kLimit);
  const RegionFolder other(kLimit);
  std::vector<pid_t> pids;
  std::vector<pid_t> others;
  for (unsigned i = 0; i < kProcesses + kOthers; ++i) {
    const bool is_other = i >= kProcesses;
    const pid_t pid = ::fork();
    if (pid == 0) use(is_other ? other : folder, is_other);
    (is_other ? others : pids).push_back(pid);
  }
  while (shared->ready < kProcesses + kOthers) ::usleep(1000);
  damage(folder, kind, seed, storm_ns);
  const bool refused = kind == "lock" || newcomer_is_refused(folder);
  ::usleep(100'000);
  shared->end = true;
  const Ends ends = wait_for(pids);
  const Ends ends_of_others = wait_for(others);
  const std::uint64_t granted = shared->granted_last;
  std::printf(
      "%.*s: bad=%u bus_errors=%u hung=%u granted_after=%lu newcomer_refused=%d others_bad=%u "
      "others_refused=%lu\n",
      static_cast<int>(kind.size()), kind.data(), ends.bad, ends.bus_errors, ends.hung, granted,
      refused ? 1 : 0, ends_of_others.bad + ends_of_others.bus_errors + ends_of_others.hung,
      shared->others_refused.load());
  const bool closed = kind == "read-only" || kind == "truncated" || granted == 0;
  const bool unharmed = ends.bad == 0 && ends.hung == 0 && (kind == "truncated" || ends.bus_errors == 0);
  const bool others_unharmed = ends_of_others.bad + ends_of_others.bus_errors + ends_of_others.hung == 0 &&
                               shared->others_refused == 0;
  // Whoever has the file open keeps it when it becomes read-only.
  const bool goes_on = kind != "read-only" || granted == kProcesses * 100;
  return refused && closed && unharmed && others_unharmed && goes_on ? 0 : 1;
}

}  // namespace
}  // namespace gpupool::limiter::testing

int main(int argc, char** argv) {
  using namespace gpupool::limiter::testing;
  if (argc < 3) return 2;
  shared = share_with_children<Shared>();
  const std::uint64_t storm_ms = argc > 3 ? std::strtoull(argv[3], nullptr, 10) : 500;
  return run(argv[1], std::strtoull(argv[2], nullptr, 10), storm_ms * 1'000'000);
}
