// SPDX-License-Identifier: Apache-2.0
#include "stream/outbox.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <thread>

#include "tests/support/manual_clock.h"

namespace gpupool::web {
namespace {

using std::chrono::seconds;

TEST(Outbox, GivesWhatWasPushedInOrder) {
  test::ManualClock clock;
  Outbox outbox(clock);
  EXPECT_TRUE(outbox.push("a", {}));
  EXPECT_TRUE(outbox.push("b", {}));
  EXPECT_EQ(outbox.take(seconds(1), {}), "a\nb\n");
}

TEST(Outbox, WaitsForALineAndNoLonger) {
  test::ManualClock clock;
  Outbox outbox(clock);
  std::string got = "nothing";
  {
    const std::jthread taker([&] { got = outbox.take(seconds(15), {}); });
    ASSERT_TRUE(clock.wait_for_deadline(clock.now() + seconds(15)));
    clock.advance(seconds(15));
  }
  EXPECT_EQ(got, "");
}

TEST(Outbox, ASlowReaderMakesTheWriterWait) {
  test::ManualClock clock;
  Outbox outbox(clock);
  const std::string line(Outbox::kMost, 'x');
  EXPECT_TRUE(outbox.push(line, {}));
  bool pushed = false;
  {
    std::jthread writer([&](const std::stop_token& stop) { pushed = outbox.push("after", stop); });
    ASSERT_TRUE(clock.wait_for_waiters(1));
    EXPECT_EQ(outbox.take(seconds(1), {}).size(), line.size() + 1);
    writer.join();
  }
  EXPECT_TRUE(pushed);
  EXPECT_EQ(outbox.take(seconds(1), {}), "after\n");
}

TEST(Outbox, AStopEndsTheWait) {
  test::ManualClock clock;
  Outbox outbox(clock);
  EXPECT_TRUE(outbox.push(std::string(Outbox::kMost, 'x'), {}));
  bool pushed = true;
  std::jthread writer([&](const std::stop_token& stop) { pushed = outbox.push("never", stop); });
  ASSERT_TRUE(clock.wait_for_waiters(1));
  writer.request_stop();
  writer.join();
  EXPECT_FALSE(pushed);
}

}  // namespace
}  // namespace gpupool::web
