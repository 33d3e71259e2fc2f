// SPDX-License-Identifier: Apache-2.0
#include "runtime/controller/controller.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <deque>
#include <future>
#include <stdexcept>
#include <thread>

#include "tests/support/manual_clock.h"

namespace gpupool::runtime {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::HasSubstr;
using testing::Not;

// Does what the test sets, and records each call.
class Scripted final : public Reconciler {
 public:
  using Answer = std::function<base::Result<Requeue>(const api::ObjectKey&, const std::stop_token&)>;

  base::Result<Requeue> reconcile(const api::ObjectKey& key, const base::Log& /*log*/,
                                  std::stop_token stop) override {
    Answer answer = [](const auto&, const auto&) { return Requeue{}; };
    {
      const std::scoped_lock lock(mutex_);
      calls_.push_back(key.name);
      if (!script_.empty()) {
        answer = std::move(script_.front());
        script_.pop_front();
      }
      changed_.notify_all();
    }
    return answer(key, stop);
  }
  void then(Answer answer) {
    const std::scoped_lock lock(mutex_);
    script_.push_back(std::move(answer));
  }
  void then_fail(base::ErrorCode code) {
    then([code](const auto&, const auto&) -> base::Result<Requeue> { return base::fail(code, "no"); });
  }
  [[nodiscard]] bool wait_for_calls(std::size_t count) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, seconds(30), [&] { return calls_.size() >= count; });
  }
  std::vector<std::string> calls() const {
    const std::scoped_lock lock(mutex_);
    return calls_;
  }

 private:
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Answer> script_;
  std::vector<std::string> calls_;
};

class ControllerTest : public ::testing::Test {
 protected:
  void start() {
    runner_ = std::jthread([this](const std::stop_token& stop) { controller_.run(stop); });
  }
  void stop() { runner_ = {}; }
  // Waits until both reconcile threads are idle.
  void wait_until_idle() { ASSERT_TRUE(clock_.wait_for_waiters(2)); }
  // Waits until a thread sleeps until exactly now + `time`, then advances the clock.
  void pass(base::Duration time) {
    ASSERT_TRUE(clock_.wait_for_deadline(clock_.now() + time));
    clock_.advance(time);
  }
  std::string metric(const std::string& name, const std::string& labels = "") {
    const auto text = metrics_.expose();
    const auto start = text.find(name + "{controller=\"test\"" + labels + "} ");
    if (start == std::string::npos) return "none";
    const auto value = text.find("} ", start) + 2;
    return text.substr(value, text.find('\n', value) - value);
  }
  static api::ObjectKey key(const std::string& name) { return {"lab", name}; }

  test::ManualClock clock_;
  base::Metrics metrics_;
  Scripted reconciler_;
  Controller controller_{{.name = "test", .kind = "Test"}, reconciler_, clock_, metrics_, base::Log::none()};
  std::jthread runner_;
};

TEST_F(ControllerTest, ReconcilesWhatIsQueued) {
  controller_.queue().add(key("a"));
  start();
  ASSERT_TRUE(reconciler_.wait_for_calls(1));
  controller_.queue().add(key("b"));
  ASSERT_TRUE(reconciler_.wait_for_calls(2));
  wait_until_idle();
  stop();
  EXPECT_THAT(reconciler_.calls(), testing::ElementsAre("a", "b"));
  EXPECT_EQ(metric("controller_runtime_reconcile_total", ",result=\"success\""), "2");
  EXPECT_EQ(metric("controller_runtime_max_concurrent_reconciles"), "2");
  EXPECT_EQ(metric("controller_runtime_active_workers"), "0");
  EXPECT_EQ(metric("controller_runtime_reconcile_time_seconds_count"), "2");
  EXPECT_EQ(metric("controller_runtime_reconcile_errors_total"), "0");
}

TEST_F(ControllerTest, AnErrorIsRetriedWithGrowingPausesUntilASuccess) {
  for (int i = 0; i < 3; ++i) reconciler_.then_fail(base::ErrorCode::kServer);
  controller_.queue().add(key("a"));
  start();
  pass(milliseconds(5));
  pass(milliseconds(10));
  ASSERT_TRUE(clock_.wait_for_deadline(clock_.now() + milliseconds(20)));
  EXPECT_EQ(controller_.queue().failures(key("a")), 3);
  pass(milliseconds(20));
  ASSERT_TRUE(reconciler_.wait_for_calls(4));
  wait_until_idle();
  EXPECT_EQ(controller_.queue().failures(key("a")), 0);
  EXPECT_EQ(metric("controller_runtime_reconcile_total", ",result=\"error\""), "3");
  EXPECT_EQ(metric("controller_runtime_reconcile_total", ",result=\"success\""), "1");
  EXPECT_EQ(metric("controller_runtime_reconcile_errors_total"), "3");
  EXPECT_EQ(metric("controller_runtime_reconcile_panics_total"), "0");
}

TEST_F(ControllerTest, AnExceptionIsAPanicThatIsRetried) {
  reconciler_.then([](const auto&, const auto&) -> base::Result<Requeue> { throw std::runtime_error("oh"); });
  reconciler_.then([](const auto&, const auto&) -> base::Result<Requeue> { throw 7; });
  controller_.queue().add(key("a"));
  start();
  pass(milliseconds(5));
  pass(milliseconds(10));
  ASSERT_TRUE(reconciler_.wait_for_calls(3));
  EXPECT_EQ(metric("controller_runtime_reconcile_panics_total"), "2");
  EXPECT_EQ(metric("controller_runtime_reconcile_errors_total"), "2");
}

TEST_F(ControllerTest, ARequeueComesAfterItsTimeAndForgetsFailures) {
  reconciler_.then_fail(base::ErrorCode::kConflict);
  reconciler_.then([](const auto&, const auto&) { return Requeue{.after = seconds(20)}; });
  controller_.queue().add(key("a"));
  start();
  pass(milliseconds(5));
  pass(seconds(20));
  ASSERT_TRUE(reconciler_.wait_for_calls(3));
  EXPECT_EQ(controller_.queue().failures(key("a")), 0);
  EXPECT_EQ(metric("controller_runtime_reconcile_total", ",result=\"requeue_after\""), "1");
}

TEST_F(ControllerTest, StopReachesTheReconcilerAndWaitsForIt) {
  std::promise<void> in_work;
  std::atomic<bool> finished = false;
  reconciler_.then([&](const auto&, const std::stop_token& stop) -> base::Result<Requeue> {
    in_work.set_value();
    clock_.sleep_for(std::chrono::hours(1), stop);
    finished = true;
    return base::fail(base::ErrorCode::kCancelled, "stopped");
  });
  controller_.queue().add(key("a"));
  start();
  in_work.get_future().wait();
  stop();
  EXPECT_TRUE(finished);
  EXPECT_EQ(controller_.queue().in_work(), 0U);
  // A stop is not an error of the object.
  EXPECT_EQ(metric("controller_runtime_reconcile_errors_total"), "0");
}

TEST_F(ControllerTest, TwoKeysAreWorkedOnAtOnceButOneKeyNever) {
  std::promise<void> release;
  const auto released = release.get_future().share();
  std::atomic<int> together = 0;
  for (int i = 0; i < 2; ++i) {
    reconciler_.then([&](const auto&, const auto&) {
      ++together;
      released.wait();
      return Requeue{};
    });
  }
  controller_.queue().add(key("a"));
  controller_.queue().add(key("b"));
  start();
  ASSERT_TRUE(reconciler_.wait_for_calls(2));
  EXPECT_EQ(metric("controller_runtime_active_workers"), "2");
  controller_.queue().add(key("a"));
  EXPECT_EQ(reconciler_.calls().size(), 2U);
  release.set_value();
  ASSERT_TRUE(reconciler_.wait_for_calls(3));
  stop();
  EXPECT_EQ(together, 2);
}

}  // namespace
}  // namespace gpupool::runtime
