// SPDX-License-Identifier: Apache-2.0
// region-kills COUNT SEED [PROCESSES]: processes that share a region reserve, commit and release, and each
// ends itself with SIGKILL at a named point of the ledger, or between two calls; another takes its place.
// Exit code 0 if the living never had more than the limit, one at a time adds, nothing stays charged, and
// nobody waits for ever.
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <csignal>
#include <cstring>
#include <random>
#include <string_view>
#include <vector>

#include "limiter/region/ledger.h"
#include "limiter/region/monotonic.h"
#include "limiter/region/slots.h"
#include "tests/limiter/region/region_folder.h"
#include "tests/limiter/region/shadow.h"
#include "tests/limiter/region/shared_memory.h"

extern "C" void gpupool_kill_point(const char* name);

namespace gpupool::limiter::testing {
namespace {

constexpr std::uint64_t kLimit = 1000;
constexpr std::uint64_t kStuckAfter = 30'000'000'000;  // nanoseconds without an end of any process
constexpr std::array<const char*, 20> kPoints = {"attach.locked",
                                                 "attach.cleared",
                                                 "attach.marked",
                                                 "clear.device",
                                                 "publish.total",
                                                 "reserve.locked",
                                                 "reserve.summed",
                                                 "reserve.added",
                                                 "reserve.unlocked",
                                                 "lock.waiting",
                                                 "unlock.before-wake",
                                                 "reap.locked",
                                                 "reap.cleared",
                                                 "reap.unmarked",
                                                 "commit",
                                                 "cancel",
                                                 "release",
                                                 "settle",
                                                 "driver.taken",
                                                 "driver.given-back"};

// Of all processes.
struct Counters {
  std::atomic<std::uint64_t> kills[kPoints.size() + 1];  // the last: between two calls
  std::atomic<std::uint64_t> granted, refused, over_limit, two_owners, bad_states;
  // The process between having added up and having added: nobody else may be there.
  std::atomic<pid_t> adding;
  std::atomic<bool> end;
};

Counters* counters = nullptr;
Ledger ledger;
// Where this process ends.
std::size_t point_to_die_at = kPoints.size();
unsigned visits_left = 0;
std::uint32_t steps = 0;

void begin_adding() {
  if (counters->adding.exchange(::getpid()) != 0) counters->two_owners.fetch_add(1);
}

void end_adding() {
  pid_t me = ::getpid();
  counters->adding.compare_exchange_strong(me, 0);
}

[[noreturn]] void die() {
  end_adding();
  counters->kills[point_to_die_at].fetch_add(1);
  ::kill(::getpid(), SIGKILL);
  for (;;) ::pause();
}

class Worker {
 public:
  Worker(Shadow& shadow, unsigned number, std::uint64_t seed)
      : shadow_(shadow), number_(number), random_(seed) {}

  [[noreturn]] void run(const RegionFolder& folder) {
    shadow_.enter(number_);
    point_to_die_at = below(kPoints.size() + 1);
    // Points that are met more often are survived more often.
    visits_left = 1 + static_cast<unsigned>(below(point_to_die_at < 5 ? 3 : 30));
    if (!ledger.attach(folder.path().c_str(), folder.limits())) ::_exit(1);
    for (unsigned calls = 30 + static_cast<unsigned>(below(400)); calls > 0 && !counters->end; --calls)
      step();
    if (ledger.state() != 0) counters->bad_states.fetch_add(1);
    if (counters->end) ::_exit(0);
    point_to_die_at = kPoints.size();
    die();
  }

 private:
  std::uint64_t below(std::uint64_t bound) { return random_() % bound; }

  void step() {
    if (!held_.empty() && (held_.size() >= 8 || below(2) == 0)) return give_back();
    const std::uint64_t bytes = 1 + below(60);
    if (ledger.reserve(0, bytes) != Reservation::kGranted) {
      counters->refused.fetch_add(1, std::memory_order_relaxed);
      if (!held_.empty()) give_back();
      return;
    }
    counters->granted.fetch_add(1, std::memory_order_relaxed);
    if (below(8) == 0) return ledger.cancel(0, bytes);
    if (shadow_.take(number_, bytes) > kLimit) counters->over_limit.fetch_add(1);
    gpupool_kill_point("driver.taken");
    if (below(4) == 0) {
      pool_ += bytes;
      ledger.settle(0, Class::kPool, pool_, bytes);
      shadow_.give_back(number_, pool_);
      pool_ = 0;
      ledger.settle(0, Class::kPool, 0);
      return;
    }
    ledger.commit(0, Class::kMemory, bytes, bytes);
    held_.push_back(bytes);
  }

  void give_back() {
    shadow_.give_back(number_, held_.back());
    gpupool_kill_point("driver.given-back");
    ledger.release(0, Class::kMemory, held_.back());
    held_.pop_back();
  }

  Shadow& shadow_;
  unsigned number_;
  std::mt19937_64 random_;
  std::vector<std::uint64_t> held_;
  std::uint64_t pool_ = 0;
};

class Fuzz {
 public:
  Fuzz(std::uint64_t kills, std::uint64_t seed, unsigned processes)
      : folder_(kLimit), wanted_(kills), seed_(seed), workers_(processes) {}

  int run() {
    for (unsigned i = 0; i < workers_.size(); ++i) start(i);
    while (killed_ < wanted_ && !stuck_) wait_for_one(true);
    counters->end = true;
    while (running_ > 0 && !stuck_) wait_for_one(false);
    if (stuck_) end_all();
    return report(stuck_ ? 0 : left_over());
  }

 private:
  void start(unsigned i) {
    workers_[i] = ::fork();
    if (workers_[i] == 0) Worker(shadow_, i, seed_ * 1'000'003 + ++started_).run(folder_);
    ++started_;
    ++running_;
  }

  void wait_for_one(bool replace) {
    int status = 0;
    const std::uint64_t begin = monotonic_ns();
    pid_t pid = 0;
    while ((pid = ::waitpid(-1, &status, WNOHANG)) == 0) {
      stuck_ = monotonic_ns() - begin > kStuckAfter;
      if (stuck_) return;
      ::usleep(200);
    }
    --running_;
    if (WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL) {
      ++killed_;
    } else if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
      ++crashed_;
    }
    for (unsigned i = 0; i < workers_.size(); ++i) {
      if (workers_[i] != pid) continue;
      workers_[i] = 0;
      if (replace) start(i);
    }
  }

  void end_all() {
    for (const pid_t pid : workers_) {
      if (pid > 0) ::kill(pid, SIGKILL);
    }
  }

  // What one more process does not get, now that all others are dead.
  std::uint64_t left_over() {
    point_to_die_at = kPoints.size();
    visits_left = 0;
    if (!ledger.attach(folder_.path().c_str(), folder_.limits())) return kLimit;
    if (ledger.reserve(0, kLimit) == Reservation::kGranted) return 0;
    return kLimit;
  }

  int report(std::uint64_t left) const {
    for (std::size_t i = 0; i < kPoints.size(); ++i) {
      std::printf("%8lu killed at %s\n", counters->kills[i].load(), kPoints[i]);
    }
    std::printf("%8lu killed between calls\n", counters->kills[kPoints.size()].load());
    const std::uint64_t over = counters->over_limit;
    const std::uint64_t two = counters->two_owners;
    const std::uint64_t bad = counters->bad_states;
    std::printf(
        "kills=%lu granted=%lu refused=%lu over_limit=%lu two_owners=%lu left_over=%lu stuck=%d crashed=%lu "
        "bad_states=%lu\n",
        killed_, counters->granted.load(), counters->refused.load(), over, two, left, stuck_ ? 1 : 0,
        crashed_, bad);
    return over == 0 && two == 0 && left == 0 && !stuck_ && crashed_ == 0 && bad == 0 ? 0 : 1;
  }

  Shadow shadow_;
  RegionFolder folder_;
  std::uint64_t wanted_;
  std::uint64_t seed_;
  std::vector<pid_t> workers_;
  std::uint64_t started_ = 0;
  std::uint64_t killed_ = 0;
  std::uint64_t crashed_ = 0;
  std::size_t running_ = 0;
  bool stuck_ = false;
};

}  // namespace
}  // namespace gpupool::limiter::testing

extern "C" void gpupool_kill_point(const char* name) {
  using namespace gpupool::limiter::testing;
  if (std::strcmp(name, "reserve.summed") == 0) begin_adding();
  if (std::strcmp(name, "reserve.added") == 0) end_adding();
  // Others come in between, also where the time is too short for that to happen by itself.
  steps = steps * 1'664'525 + 1'013'904'223 + static_cast<std::uint32_t>(::getpid());
  if (steps >> 28U == 0) ::usleep(20);
  if (visits_left == 0 || point_to_die_at >= kPoints.size() ||
      std::strcmp(kPoints[point_to_die_at], name) != 0)
    return;
  if (--visits_left == 0) die();
}

int main(int argc, char** argv) {
  using namespace gpupool::limiter::testing;
  if (argc < 3) {
    std::fprintf(stderr, "usage: region-kills COUNT SEED [PROCESSES]\n");
    return 2;
  }
  counters = share_with_children<Counters>();
  const unsigned long processes = argc > 3 ? std::strtoul(argv[3], nullptr, 10) : 32;
  if (processes == 0 || processes > kMaxWorkers) return 2;
  return Fuzz(std::strtoull(argv[1], nullptr, 10), std::strtoull(argv[2], nullptr, 10),
              static_cast<unsigned>(processes))
      .run();
}
