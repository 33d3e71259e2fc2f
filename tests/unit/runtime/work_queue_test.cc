// SPDX-License-Identifier: Apache-2.0
#include "runtime/queue/work_queue.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <future>
#include <thread>

#include "tests/support/manual_clock.h"

namespace gpupool::runtime {
namespace {

using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;
using testing::HasSubstr;

class WorkQueueTest : public ::testing::Test {
 protected:
  static WorkQueue::Key key(const std::string& name) { return {"lab", name}; }

  // Returns the name of the next key. REQUIRES: one is ready.
  std::string take() {
    if (queue_.depth() == 0) return "nothing is ready";
    return queue_.get({})->name;
  }
  // Checks that this key is the next one and becomes ready in exactly `delay`.
  void expect_in(base::Duration delay, const std::string& name) {
    ASSERT_EQ(queue_.depth(), 0U);
    auto taken = std::async(std::launch::async, [this] { return queue_.get({}); });
    ASSERT_TRUE(clock_.wait_for_deadline(clock_.now() + delay));
    clock_.advance(delay);
    EXPECT_EQ(taken.get()->name, name);
  }
  void work_off(const std::string& name) {
    ASSERT_EQ(take(), name);
    queue_.done(key(name));
  }

  test::ManualClock clock_;
  base::Metrics metrics_;
  WorkQueue queue_{clock_, seconds(30), make_queue_metrics(metrics_, "test")};
};

TEST_F(WorkQueueTest, HandsOutInOrder) {
  queue_.add(key("a"));
  queue_.add(key("b"));
  EXPECT_EQ(take(), "a");
  EXPECT_EQ(take(), "b");
  EXPECT_EQ(queue_.in_work(), 2U);
}

TEST_F(WorkQueueTest, AKeyThatWaitsIsAddedOnce) {
  queue_.add(key("a"));
  queue_.add(key("a"));
  EXPECT_EQ(queue_.depth(), 1U);
}

TEST_F(WorkQueueTest, AddsDuringWorkCollapseIntoOneAfterIt) {
  queue_.add(key("a"));
  EXPECT_EQ(take(), "a");
  queue_.add(key("a"));
  queue_.add(key("a"));
  EXPECT_EQ(queue_.depth(), 0U);
  queue_.done(key("a"));
  EXPECT_EQ(queue_.depth(), 1U);
  work_off("a");
  EXPECT_EQ(queue_.depth(), 0U);
  EXPECT_EQ(queue_.in_work(), 0U);
}

TEST_F(WorkQueueTest, LiveOvertakesBackground) {
  queue_.add(key("old"), Priority::kBackground);
  queue_.add(key("new"));
  EXPECT_EQ(take(), "new");
  EXPECT_EQ(take(), "old");
}

TEST_F(WorkQueueTest, LiveKeysThatNeverEndDoNotHoldUpBackgroundWork) {
  queue_.add(key("old"), Priority::kBackground);
  queue_.add(key("a"));
  clock_.advance(milliseconds(900));
  queue_.add(key("b"));
  clock_.advance(milliseconds(200));
  queue_.add(key("c"));
  for (const char* expected : {"a", "b", "old", "c"}) EXPECT_EQ(take(), expected);
}

TEST_F(WorkQueueTest, ALiveAddPromotesABackgroundKeyAndABackgroundAddDoesNotDemote) {
  for (const char* name : {"a", "b", "c"}) queue_.add(key(name), Priority::kBackground);
  queue_.add(key("c"));
  queue_.add(key("c"), Priority::kBackground);
  EXPECT_EQ(queue_.depth(), 3U);
  EXPECT_EQ(take(), "c");
  EXPECT_EQ(take(), "a");
  EXPECT_EQ(take(), "b");
}

TEST_F(WorkQueueTest, ALiveAddDuringWorkWinsOverABackgroundOne) {
  queue_.add(key("a"));
  EXPECT_EQ(take(), "a");
  queue_.add(key("b"), Priority::kBackground);
  queue_.add(key("a"), Priority::kBackground);
  queue_.add(key("a"));
  queue_.done(key("a"));
  EXPECT_EQ(take(), "a");
}

TEST_F(WorkQueueTest, ADelayedKeyComesWhenItIsDue) {
  queue_.add_after(key("a"), seconds(5));
  expect_in(seconds(5), "a");
}

TEST_F(WorkQueueTest, TheEarlierTimeWins) {
  queue_.add_after(key("a"), seconds(5));
  queue_.add_after(key("a"), seconds(9));
  queue_.add_after(key("a"), seconds(3));
  expect_in(seconds(3), "a");
  queue_.done(key("a"));
  queue_.add_after(key("b"), seconds(100));
  expect_in(seconds(100), "b");
}

TEST_F(WorkQueueTest, AWaitingThreadLearnsOfAnEarlierTime) {
  queue_.add_after(key("late"), seconds(50));
  auto taken = std::async(std::launch::async, [this] { return queue_.get({}); });
  ASSERT_TRUE(clock_.wait_for_deadline(clock_.now() + seconds(50)));
  queue_.add_after(key("early"), seconds(1));
  ASSERT_TRUE(clock_.wait_for_deadline(clock_.now() + seconds(1)));
  clock_.advance(seconds(1));
  EXPECT_EQ(taken.get()->name, "early");
}

TEST_F(WorkQueueTest, ADelayOfNothingIsAnAdd) {
  queue_.add_after(key("a"), {});
  EXPECT_EQ(take(), "a");
}

TEST_F(WorkQueueTest, ADelayedKeyThatIsInWorkWaitsForItsEnd) {
  queue_.add(key("a"));
  EXPECT_EQ(take(), "a");
  queue_.add_after(key("a"), seconds(1));
  clock_.advance(seconds(2));
  queue_.add(key("b"));
  EXPECT_EQ(take(), "b");
  EXPECT_EQ(queue_.depth(), 0U);
  queue_.done(key("a"));
  EXPECT_EQ(take(), "a");
}

TEST_F(WorkQueueTest, LongDelaysComeBackAsBackgroundWork) {
  queue_.add_after(key("recheck"), minutes(1));
  queue_.add_after(key("soon"), seconds(59));
  clock_.advance(minutes(1));
  queue_.add(key("live"));
  EXPECT_EQ(take(), "live");
  EXPECT_EQ(take(), "soon");
  EXPECT_EQ(take(), "recheck");
}

TEST_F(WorkQueueTest, FailuresBackOffToTheLimitUntilForgotten) {
  base::Duration delay = milliseconds(5);
  for (int i = 0; i < 15; ++i) {
    EXPECT_EQ(queue_.failures(key("a")), i);
    queue_.add_rate_limited(key("a"));
    expect_in(delay, "a");
    queue_.done(key("a"));
    delay = std::min<base::Duration>(2 * delay, seconds(30));
  }
  EXPECT_EQ(delay, seconds(30));
  queue_.forget(key("a"));
  EXPECT_EQ(queue_.failures(key("a")), 0);
  queue_.add_rate_limited(key("a"));
  expect_in(milliseconds(5), "a");
}

TEST_F(WorkQueueTest, ARetryKeepsThePriorityOfTheWork) {
  queue_.add(key("first"), Priority::kBackground);
  queue_.add(key("second"), Priority::kBackground);
  EXPECT_EQ(take(), "first");
  queue_.add_rate_limited(key("first"));
  queue_.done(key("first"));
  clock_.advance(seconds(1));
  EXPECT_EQ(take(), "second");
  EXPECT_EQ(take(), "first");
}

TEST_F(WorkQueueTest, StopEndsAWaitAndComesBeforeReadyKeys) {
  std::stop_source stop;
  auto taken = std::async(std::launch::async, [&] { return queue_.get(stop.get_token()); });
  ASSERT_TRUE(clock_.wait_for_waiters(1));
  stop.request_stop();
  EXPECT_FALSE(taken.get().has_value());
  queue_.add(key("a"));
  EXPECT_FALSE(queue_.get(stop.get_token()).has_value());
}

TEST_F(WorkQueueTest, EachKeyWakesAThread) {
  auto one = std::async(std::launch::async, [this] { return queue_.get({}); });
  auto two = std::async(std::launch::async, [this] { return queue_.get({}); });
  ASSERT_TRUE(clock_.wait_for_waiters(2));
  queue_.add(key("a"));
  queue_.add(key("b"));
  EXPECT_NE(one.get()->name, two.get()->name);
}

TEST_F(WorkQueueTest, TellsItsMetrics) {
  queue_.add(key("a"));
  queue_.add(key("a"));
  queue_.add(key("b"));
  clock_.advance(seconds(5));
  EXPECT_EQ(take(), "a");
  queue_.add_rate_limited(key("a"));
  clock_.advance(seconds(50));
  queue_.done(key("a"));
  const auto text = metrics_.expose();
  EXPECT_THAT(text, HasSubstr("workqueue_depth{name=\"test\"} 1\n"));
  EXPECT_THAT(text, HasSubstr("workqueue_adds_total{name=\"test\"} 2\n"));
  EXPECT_THAT(text, HasSubstr("workqueue_retries_total{name=\"test\"} 1\n"));
  EXPECT_THAT(text, HasSubstr("workqueue_queue_duration_seconds_sum{name=\"test\"} 5\n"));
  EXPECT_THAT(text, HasSubstr("workqueue_work_duration_seconds_sum{name=\"test\"} 50\n"));
}

}  // namespace
}  // namespace gpupool::runtime
