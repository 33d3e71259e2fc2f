// SPDX-License-Identifier: Apache-2.0
#include "runtime/manager/manager.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <future>
#include <thread>

#include "tests/support/manual_clock.h"

namespace gpupool::runtime {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::ElementsAre;
using testing::HasSubstr;

// Records what happens, in order.
class Diary {
 public:
  void note(const std::string& text) {
    const std::scoped_lock lock(mutex_);
    lines_.push_back(text);
    changed_.notify_all();
  }
  [[nodiscard]] bool wait_for(const std::string& text) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, seconds(30),
                             [&] { return std::find(lines_.begin(), lines_.end(), text) != lines_.end(); });
  }
  std::vector<std::string> lines() const {
    const std::scoped_lock lock(mutex_);
    return lines_;
  }

 private:
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::string> lines_;
};

class Part final : public Runnable {
 public:
  Part(std::string name, Diary& diary, test::ManualClock& clock)
      : name_(std::move(name)), diary_(diary), clock_(clock) {}
  std::string name() const override { return name_; }
  void run(std::stop_token stop) override {
    diary_.note(name_ + " starts");
    if (throws) throw std::runtime_error("oh");
    if (!returns_early) clock_.sleep_for(std::chrono::hours(1000), stop);
    if (hangs) released_.get_future().wait();
    diary_.note(name_ + " ends");
  }
  void release() { released_.set_value(); }

  bool returns_early = false;
  bool throws = false;
  bool hangs = false;

 private:
  std::string name_;
  Diary& diary_;
  test::ManualClock& clock_;
  std::promise<void> released_;
};

class ManagerTest : public ::testing::Test {
 protected:
  ManagerTest() {
    manager_.add_controller(controller_);
    manager_.add_cache(cache_, [this] { return synced_.load(); });
    manager_.add_last(events_);
  }
  std::future<base::Result<void>> run() {
    return std::async(std::launch::async,
                      [this] { return manager_.run(stop_.get_token(), seconds(120), seconds(10)); });
  }
  // Waits until the manager polls the caches again.
  void let_it_poll() {
    ASSERT_TRUE(clock_.wait_for_deadline(clock_.now() + milliseconds(50)));
    clock_.advance(milliseconds(50));
  }

  test::ManualClock clock_;
  Diary diary_;
  Manager manager_{clock_, base::Log::none()};
  Part controller_{"controller", diary_, clock_};
  Part cache_{"cache", diary_, clock_};
  Part events_{"events", diary_, clock_};
  std::atomic<bool> synced_ = false;
  std::stop_source stop_;
};

TEST_F(ManagerTest, StartsControllersOnlyWhenCachesAreSyncedAndStopsInReverse) {
  auto result = run();
  ASSERT_TRUE(diary_.wait_for("events starts"));
  ASSERT_TRUE(diary_.wait_for("cache starts"));
  let_it_poll();
  let_it_poll();
  ASSERT_TRUE(clock_.wait_for_deadline(clock_.now() + milliseconds(50)));
  EXPECT_FALSE(manager_.ready());
  EXPECT_THAT(manager_.unsynced(), ElementsAre("cache"));
  EXPECT_EQ(diary_.lines().size(), 2U);
  synced_ = true;
  let_it_poll();
  ASSERT_TRUE(diary_.wait_for("controller starts"));
  ASSERT_TRUE(clock_.wait_for_waiters(4));
  EXPECT_TRUE(manager_.ready());
  EXPECT_TRUE(manager_.unsynced().empty());
  stop_.request_stop();
  EXPECT_TRUE(result.get().has_value());
  EXPECT_FALSE(manager_.ready());
  const auto lines = diary_.lines();
  EXPECT_THAT(std::vector(lines.end() - 3, lines.end()),
              ElementsAre("controller ends", "cache ends", "events ends"));
}

TEST_F(ManagerTest, CachesThatDoNotSyncAreNamed) {
  auto result = run();
  ASSERT_TRUE(diary_.wait_for("cache starts"));
  ASSERT_TRUE(clock_.wait_for_deadline(clock_.now() + milliseconds(50)));
  clock_.advance(seconds(120));
  const auto error = result.get().error();
  EXPECT_EQ(error.code, base::ErrorCode::kTimeout);
  EXPECT_EQ(error.message, "not synced in time: cache");
  EXPECT_THAT(diary_.lines(), testing::Not(testing::Contains("controller starts")));
}

TEST_F(ManagerTest, AStopBeforeTheSyncIsNoError) {
  auto result = run();
  ASSERT_TRUE(diary_.wait_for("cache starts"));
  stop_.request_stop();
  EXPECT_TRUE(result.get().has_value());
  EXPECT_THAT(diary_.lines(), testing::Not(testing::Contains("controller starts")));
}

TEST_F(ManagerTest, APartThatReturnsByItselfStopsEverything) {
  synced_ = true;
  controller_.returns_early = true;
  const auto error = run().get().error();
  EXPECT_EQ(error.code, base::ErrorCode::kIo);
  EXPECT_EQ(error.message, "stopped by itself: controller");
  EXPECT_THAT(diary_.lines(), testing::IsSupersetOf({"cache ends", "events ends"}));
}

TEST_F(ManagerTest, APartThatReturnsBeforeTheSyncStopsEverything) {
  events_.returns_early = true;
  EXPECT_EQ(run().get().error().message, "stopped by itself: events");
}

TEST_F(ManagerTest, APartThatThrowsStopsEverything) {
  synced_ = true;
  controller_.throws = true;
  EXPECT_EQ(run().get().error().message, "stopped by itself: controller");
}

TEST_F(ManagerTest, APartThatDoesNotStopIsNamedAndTheOthersAreStopped) {
  synced_ = true;
  controller_.hangs = true;
  auto result = run();
  ASSERT_TRUE(diary_.wait_for("controller starts"));
  stop_.request_stop();
  ASSERT_TRUE(clock_.wait_for_deadline(clock_.now() + seconds(6)));
  clock_.advance(seconds(6));
  const auto error = result.get().error();
  EXPECT_EQ(error.code, base::ErrorCode::kTimeout);
  EXPECT_EQ(error.message, "did not stop in time: controller");
  EXPECT_TRUE(diary_.wait_for("cache ends"));
  EXPECT_TRUE(diary_.wait_for("events ends"));
  controller_.release();
  EXPECT_TRUE(diary_.wait_for("controller ends"));
}

class Gate final : public LeaderGate {
 public:
  Gate(Diary& diary, test::ManualClock& clock) : diary_(diary), clock_(clock) {}
  std::string name() const override { return "gate"; }
  void run(std::stop_token stop) override {
    diary_.note("gate starts");
    const std::stop_callback forward(stop, [this] { end_.request_stop(); });
    clock_.sleep_for(std::chrono::hours(1000), end_.get_token());
    diary_.note("gate ends");
  }
  bool leading() const override { return leads.load(); }
  void give_up() override { diary_.note("given up"); }
  void lose() { end_.request_stop(); }

  std::atomic<bool> leads = false;

 private:
  Diary& diary_;
  test::ManualClock& clock_;
  std::stop_source end_;
};

class ManagerElectionTest : public ManagerTest {
 protected:
  ManagerElectionTest() { manager_.set_leader_gate(gate_); }
  Gate gate_{diary_, clock_};
};

TEST_F(ManagerElectionTest, CachesAreWarmBeforeTheElectionAndControllersWaitForIt) {
  auto result = run();
  ASSERT_TRUE(diary_.wait_for("cache starts"));
  ASSERT_TRUE(diary_.wait_for("events starts"));
  let_it_poll();
  EXPECT_THAT(diary_.lines(), testing::Not(testing::Contains("gate starts"))) << "a leader that sees nothing";
  synced_ = true;
  let_it_poll();
  ASSERT_TRUE(diary_.wait_for("gate starts"));
  let_it_poll();
  ASSERT_TRUE(clock_.wait_for_deadline(clock_.now() + milliseconds(50)));
  EXPECT_TRUE(manager_.ready()) << "a standby is ready";
  EXPECT_THAT(diary_.lines(), testing::Not(testing::Contains("controller starts")));
  gate_.leads = true;
  let_it_poll();
  ASSERT_TRUE(diary_.wait_for("controller starts"));
  stop_.request_stop();
  EXPECT_TRUE(result.get().has_value());
  const auto lines = diary_.lines();
  EXPECT_THAT(std::vector(lines.end() - 5, lines.end()),
              ElementsAre("controller ends", "cache ends", "events ends", "gate ends", "given up"));
}

TEST_F(ManagerElectionTest, OnlyALeaderPreparesAndItDoesBeforeItsControllersStart) {
  manager_.set_preparation([this](const std::stop_token&) { diary_.note("prepared"); });
  synced_ = true;
  auto result = run();
  ASSERT_TRUE(diary_.wait_for("cache starts"));
  ASSERT_TRUE(diary_.wait_for("events starts"));
  ASSERT_TRUE(diary_.wait_for("gate starts"));
  let_it_poll();
  ASSERT_TRUE(clock_.wait_for_deadline(clock_.now() + milliseconds(50)));
  EXPECT_THAT(diary_.lines(), testing::Not(testing::Contains("prepared")));
  gate_.leads = true;
  let_it_poll();
  ASSERT_TRUE(diary_.wait_for("controller starts"));
  const auto lines = diary_.lines();
  EXPECT_THAT(std::vector(lines.end() - 2, lines.end()), ElementsAre("prepared", "controller starts"));
  stop_.request_stop();
  EXPECT_TRUE(result.get().has_value());
}

TEST_F(ManagerElectionTest, AStandbyStopsWithoutEverStartingControllers) {
  synced_ = true;
  auto result = run();
  ASSERT_TRUE(diary_.wait_for("gate starts"));
  stop_.request_stop();
  EXPECT_TRUE(result.get().has_value());
  EXPECT_THAT(diary_.lines(), testing::Not(testing::Contains("controller starts")));
}

TEST_F(ManagerElectionTest, LostLeadershipEndsAtOnceWithoutWaitingForAnybody) {
  synced_ = true;
  gate_.leads = true;
  controller_.hangs = true;
  auto result = run();
  ASSERT_TRUE(diary_.wait_for("controller starts"));
  gate_.leads = false;
  gate_.lose();
  EXPECT_EQ(result.get().error().message, "leadership was lost");
  EXPECT_THAT(diary_.lines(), testing::Not(testing::Contains("given up")));
  EXPECT_THAT(diary_.lines(), testing::Not(testing::Contains("controller ends")));
  controller_.release();
  for (const auto* end : {"controller ends", "cache ends", "events ends"}) EXPECT_TRUE(diary_.wait_for(end));
}

TEST_F(ManagerElectionTest, WhileSomethingStillRunsTheLeaseIsNotGivenUp) {
  synced_ = true;
  gate_.leads = true;
  controller_.hangs = true;
  auto result = run();
  ASSERT_TRUE(diary_.wait_for("controller starts"));
  stop_.request_stop();
  ASSERT_TRUE(clock_.wait_for_deadline(clock_.now() + seconds(6)));
  clock_.advance(seconds(6));
  EXPECT_EQ(result.get().error().code, base::ErrorCode::kTimeout);
  EXPECT_THAT(diary_.lines(), testing::Not(testing::Contains("given up")));
  controller_.release();
  EXPECT_TRUE(diary_.wait_for("controller ends"));
}

}  // namespace
}  // namespace gpupool::runtime
