// SPDX-License-Identifier: Apache-2.0
// Threads of one process use one ledger, and another process theirs.
#include <atomic>
#include <thread>

#include "tests/unit/limiter/region_world.h"

namespace gpupool::limiter::testing {
namespace {

using RegionThreads = RegionTest;
using enum Reservation;

constexpr int kThreads = 6;
constexpr int kRounds = 400;

struct Outcome {
  std::atomic<std::int64_t> held{0};
  std::atomic<unsigned> granted{0};
  std::atomic<unsigned> over{0};
};

void take_and_give(Ledger& ledger, Outcome& outcome, std::uint64_t bytes, int seed) {
  const auto signed_bytes = static_cast<std::int64_t>(bytes);
  for (int round = 0; round < kRounds; ++round) {
    ledger.used(0);
    ledger.unknown_name("cuNew");
    ledger.end_wait(0, ledger.begin_wait(0, bytes));
    if (ledger.reserve(0, bytes) != kGranted) continue;
    outcome.granted.fetch_add(1);
    if (outcome.held.fetch_add(signed_bytes) + signed_bytes > std::int64_t{1000 * kMib}) {
      outcome.over.fetch_add(1);
    }
    if ((round + seed) % 3 != 0) {
      ledger.commit(0, Class::kMemory, bytes, bytes);
      ledger.own(0);
      outcome.held.fetch_sub(signed_bytes);
      ledger.release(0, Class::kMemory, bytes);
    } else {
      outcome.held.fetch_sub(signed_bytes);
      ledger.cancel(0, bytes);
    }
  }
}

// 0, or what is wrong.
int use_together(Ledger& ledger, std::uint64_t bytes, unsigned granted_at_least) {
  Outcome outcome;
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&ledger, &outcome, bytes, i] { take_and_give(ledger, outcome, bytes, i); });
  }
  for (std::thread& thread : threads) thread.join();
  if (outcome.over != 0) return 2;
  if (outcome.granted < granted_at_least) return 3;
  if (ledger.own(0) != 0 || ledger.used(0) != 0) return 4;
  return ledger.state() == kUnknownNames ? 0 : 5;
}

TEST_F(RegionThreads, OfOneProcessLoseNothingAndKeepToTheLimit) {
  EXPECT_EQ(answer_of_child([&] {
              Ledger ledger;
              if (!ledger.attach(path_.c_str(), two_devices())) return 1;
              const int all_fit = use_together(ledger, 100 * kMib, unsigned{kThreads} * kRounds);
              return all_fit != 0 ? all_fit : use_together(ledger, 300 * kMib, 1);
            }),
            0);
  EXPECT_EQ(seen().devices[0].used, 0U);
  EXPECT_LE(seen().devices[0].peak, 1000 * kMib);
}

}  // namespace
}  // namespace gpupool::limiter::testing
