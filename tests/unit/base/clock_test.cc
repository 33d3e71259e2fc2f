// SPDX-License-Identifier: Apache-2.0
#include "base/clock.h"

#include <gtest/gtest.h>

#include <thread>

namespace gpupool::base {
namespace {

using namespace std::chrono_literals;

TEST(SystemClock, WaitReturnsAtTheDeadlineWithoutReady) {
  SystemClock clock;
  std::mutex mutex;
  std::condition_variable_any changed;
  std::unique_lock lock(mutex);
  const SteadyTime deadline = clock.now() + 1ms;
  EXPECT_FALSE(clock.wait(lock, changed, {}, deadline, [] { return false; }));
  EXPECT_GE(clock.now(), deadline);
  EXPECT_TRUE(lock.owns_lock());
}

TEST(SystemClock, WaitReturnsWhenReady) {
  SystemClock clock;
  std::mutex mutex;
  std::condition_variable_any changed;
  bool ready = false;
  std::jthread other([&] {
    const std::lock_guard lock(mutex);
    ready = true;
    changed.notify_all();
  });
  std::unique_lock lock(mutex);
  EXPECT_TRUE(clock.wait(lock, changed, {}, std::nullopt, [&] { return ready; }));
}

TEST(SystemClock, WaitReturnsWhenStopIsRequested) {
  SystemClock clock;
  std::mutex mutex;
  std::condition_variable_any changed;
  std::stop_source stop;
  std::unique_lock lock(mutex);
  std::jthread other([&] {
    const std::lock_guard after_the_wait_began(mutex);
    stop.request_stop();
  });
  EXPECT_FALSE(clock.wait(lock, changed, stop.get_token(), std::nullopt, [] { return false; }));
}

TEST(SystemClock, SleepEndsInTimeOrByStop) {
  SystemClock clock;
  EXPECT_TRUE(clock.sleep_for(1ms, {}));
  EXPECT_TRUE(clock.sleep_for(-1s, {}));

  std::jthread sleeper([&](std::stop_token stop) { EXPECT_FALSE(clock.sleep_for(Duration::max(), stop)); });
  sleeper.request_stop();
}

TEST(SystemClock, WallIsThisCentury) { EXPECT_GT(SystemClock().wall(), WallTime(1767225600s)); }

}  // namespace
}  // namespace gpupool::base
