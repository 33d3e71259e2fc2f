// SPDX-License-Identifier: Apache-2.0
#include "tests/support/manual_clock.h"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

namespace gpupool::test {
namespace {

using namespace std::chrono_literals;

TEST(ManualClock, OnlyAdvanceMovesIt) {
  ManualClock clock;
  const auto start = clock.now();
  EXPECT_EQ(clock.now(), start);
  clock.advance(5s);
  EXPECT_EQ(clock.now(), start + 5s);
  EXPECT_EQ(clock.wall(), ManualClock::kWallStart + 5s);
}

TEST(ManualClock, AdvanceWakesWhoseTimeHasComeOnly) {
  ManualClock clock;
  std::atomic<int> short_sleeps = 0;
  std::jthread long_sleeper([&](std::stop_token stop) { EXPECT_FALSE(clock.sleep_for(1h, stop)); });
  {
    std::vector<std::jthread> sleepers;
    for (int i = 0; i < 4; ++i) {
      sleepers.emplace_back(
          [&](std::stop_token stop) { short_sleeps += clock.sleep_for(10s, stop) ? 1 : 0; });
    }
    ASSERT_TRUE(clock.wait_for_waiters(5));
    clock.advance(9s);
    EXPECT_EQ(short_sleeps, 0);
    clock.advance(1s);
    for (auto& sleeper : sleepers) sleeper.join();
  }
  EXPECT_EQ(short_sleeps, 4);
  EXPECT_TRUE(clock.wait_for_deadline(clock.now() + 1h - 10s));
}

TEST(ManualClock, AWaiterLoopSeesEveryAdvance) {
  ManualClock clock;
  constexpr int kRounds = 2000;
  std::jthread loop([&](std::stop_token stop) {
    for (int i = 0; i < kRounds; ++i) EXPECT_TRUE(clock.sleep_for(1s, stop));
  });
  for (int i = 0; i < kRounds; ++i) {
    ASSERT_TRUE(clock.wait_for_waiters(1));
    clock.advance(1s);
  }
}

TEST(ManualClock, NotifyWakesAWaiterThatIsReady) {
  ManualClock clock;
  std::mutex mutex;
  std::condition_variable_any changed;
  bool ready = false;
  std::jthread waiter([&](std::stop_token stop) {
    std::unique_lock lock(mutex);
    EXPECT_TRUE(clock.wait(lock, changed, stop, std::nullopt, [&] { return ready; }));
    EXPECT_TRUE(lock.owns_lock());
  });
  ASSERT_TRUE(clock.wait_for_waiters(1));
  const std::lock_guard lock(mutex);
  clock.advance(1s);  // allowed with the mutex held
  ready = true;
  changed.notify_all();
}

TEST(ManualClock, StopWakes) {
  ManualClock clock;
  std::jthread sleeper([&](std::stop_token stop) { EXPECT_FALSE(clock.sleep_for(1h, stop)); });
  ASSERT_TRUE(clock.wait_for_waiters(1));
  sleeper.request_stop();
}

TEST(ManualClock, GoesToTheNextDeadline) {
  ManualClock clock;
  EXPECT_FALSE(clock.advance_to_next_deadline());
  const auto start = clock.now();
  std::jthread late([&](std::stop_token stop) { clock.sleep_for(1h, stop); });
  std::jthread early([&](std::stop_token stop) { clock.sleep_for(3s, stop); });
  ASSERT_TRUE(clock.wait_for_waiters(2));
  EXPECT_TRUE(clock.advance_to_next_deadline());
  EXPECT_EQ(clock.now(), start + 3s);
  EXPECT_TRUE(clock.advance_to_next_deadline());
  EXPECT_EQ(clock.now(), start + 1h);
}

}  // namespace
}  // namespace gpupool::test
