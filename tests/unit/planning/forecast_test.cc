// SPDX-License-Identifier: Apache-2.0
#include "planning/forecast/forecast.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "planning/forecast/latest_start.h"
#include "tests/unit/planning/snapshots.h"

namespace gpupool::planning {
namespace {

using test::at;
using test::make_pool_node;
using test::make_waiting;
using test::SnapshotBuilder;

constexpr std::int64_t kEnding = 90;  // grace period and overhead

class Forecast : public testing::Test {
 protected:
  Forecast() {
    for (const auto* name : {"a", "b"}) lab_.nodes.push_back(make_pool_node(name));
  }
  void ran(const api::GpuJob& like, const std::vector<std::int64_t>& seconds) {
    for (const auto each : seconds) times_.add(test::ended_job(like, each));
  }
  LikelyStart likely(const std::vector<api::GpuJob>& ahead, const api::GpuJob& asker) const {
    Budget budget;
    return likely_start(lab_.build(ahead, asker), times_.by_kind(), now_, budget);
  }
  LatestStart latest(const std::vector<api::GpuJob>& ahead, const api::GpuJob& asker) const {
    Budget budget;
    return latest_start(lab_.build(ahead, asker), now_, budget);
  }

  SnapshotBuilder lab_{test::make_pool()};
  RunTimes times_;
  base::WallTime now_ = at(100);
};

TEST_F(Forecast, WaitsForTheFirstDeadline) {
  lab_.hold(make_waiting("one", 1, 1000), {"a"}, 0);
  lab_.hold(make_waiting("two", 1, 400), {"b"}, 50);
  const auto found = likely({}, make_waiting("me", 1));
  EXPECT_EQ(found.from, at(450));
  EXPECT_EQ(found.to, at(450));
  EXPECT_TRUE(found.used_deadlines);
  EXPECT_EQ(found.samples, 0);
  EXPECT_EQ(latest({}, make_waiting("me", 1)).at, at(450 + kEnding));
}

TEST_F(Forecast, UsesHowLongSuchJobsRan) {
  ran(make_waiting("one", 1), {200, 300, 500});
  lab_.hold(make_waiting("one", 1), {"a"}, 0);
  lab_.hold(make_waiting("two", 2), {"b"}, 0);
  const auto found = likely({}, make_waiting("me", 1));
  EXPECT_EQ(found.from, at(200));
  EXPECT_EQ(found.to, at(500));
  EXPECT_EQ(found.samples, 3);
  EXPECT_FALSE(found.used_deadlines);
}

TEST_F(Forecast, AJobThatRanLongerThanSomeIsComparedWithTheOthers) {
  ran(make_waiting("one", 1), {50, 60, 300});
  lab_.hold(make_waiting("one", 1), {"a"}, 0);
  lab_.hold(make_waiting("two", 2), {"b"}, 0);
  const auto found = likely({}, make_waiting("me", 1));
  EXPECT_EQ(found.from, at(300));
  EXPECT_EQ(found.samples, 1);
}

TEST_F(Forecast, JobsOfOtherNamespacesAreOfAnotherKind) {
  auto other = make_waiting("one", 1);
  other.metadata.ns = "elsewhere";
  ran(other, {200});
  lab_.hold(make_waiting("one", 1), {"a"}, 0);
  lab_.hold(make_waiting("two", 1), {"b"}, 0);
  EXPECT_FALSE(likely({}, make_waiting("me", 1)).from);
}

TEST_F(Forecast, JobsBeforeItComeFirst) {
  lab_.hold(make_waiting("one", 1, 1000), {"a"}, 0);
  lab_.hold(make_waiting("two", 1, 400), {"b"}, 0);
  const auto found = likely({make_waiting("first", 1, 100)}, make_waiting("me", 1));
  EXPECT_EQ(found.from, at(500));
  EXPECT_EQ(latest({make_waiting("first", 1, 100)}, make_waiting("me", 1)).at,
            at(400 + kEnding + 100 + kEnding));
}

TEST_F(Forecast, AJobWithoutAnEndHasNoEnd) {
  lab_.hold(make_waiting("one", 1), {"a"}, 0);
  lab_.hold(make_waiting("two", 1, 400), {"b"}, 0);
  EXPECT_TRUE(likely({}, make_waiting("me", 1)).from) << "the other node is enough";
  EXPECT_EQ(latest({}, make_waiting("me", 1)).at, at(400 + kEnding));
  EXPECT_FALSE(likely({}, make_waiting("me", 2)).from);
  const auto found = latest({}, make_waiting("me", 2));
  EXPECT_FALSE(found.at);
  EXPECT_EQ(found.without_deadline, 1);
}

TEST_F(Forecast, AJobThatCannotRunIsNotWaitedFor) {
  lab_.hold(make_waiting("one", 1, 1000), {"a"}, 0);
  lab_.hold(make_waiting("two", 1, 400), {"b"}, 0);
  EXPECT_EQ(likely({make_waiting("large", 7)}, make_waiting("me", 1)).from, at(400));
  EXPECT_EQ(latest({make_waiting("large", 7)}, make_waiting("me", 1)).at, at(400 + kEnding));
}

TEST_F(Forecast, AJobThatIsBeingStoppedEndsSoon) {
  auto stopped = make_waiting("one", 1);
  stopped.spec.suspend = true;
  lab_.hold(stopped, {"a"}, 0);
  lab_.hold(make_waiting("two", 1), {"b"}, 0);
  EXPECT_EQ(likely({}, make_waiting("me", 1)).from, now_);
  EXPECT_EQ(latest({}, make_waiting("me", 1)).at, at(100 + kEnding));
}

TEST_F(Forecast, TheGracePeriodOfATemplateCounts) {
  lab_.hold(test::with_template(make_waiting("one", 1, 400), R"("terminationGracePeriodSeconds":300)"),
            {"a"});
  lab_.hold(make_waiting("two", 1), {"b"});
  EXPECT_EQ(latest({}, make_waiting("me", 1)).at, at(400 + 300 + 60));
}

TEST_F(Forecast, TheGracePeriodOfCheckpointsCounts) {
  auto saves = test::with_template(make_waiting("one", 1, 400), R"("terminationGracePeriodSeconds":300)");
  saves.spec.checkpoint.emplace().grace_seconds = 900;
  lab_.hold(saves, {"a"});
  lab_.hold(make_waiting("two", 1), {"b"});
  EXPECT_EQ(latest({}, make_waiting("me", 1)).at, at(400 + 900 + 60));
}

// The pair starts earlier than by its latest time, on the node that only the asker can use otherwise.
TEST_F(Forecast, ALatestStartCountsWithTheWorstNode) {
  lab_.nodes = {make_pool_node("a", 1), make_pool_node("b", 2)};
  lab_.hold(make_waiting("one", 1, 500), {"a"});
  lab_.hold(make_waiting("two", 1, 1000), {"b"});
  auto asker = make_waiting("me", 2);
  asker.spec.gpus_per_worker = 2;
  // By the longest times, `first` takes node a at 500 and the asker node b at 1000.
  const auto found = latest({make_waiting("first", 1, 5000)}, asker);
  EXPECT_EQ(found.at, at(500 + kEnding + 5000 + kEnding));
}

// A job that waits for a large node keeps the small ones from those behind it, too.
TEST_F(Forecast, AJobThatWaitsElsewhereMayKeepOthersWaiting) {
  lab_.nodes = {make_pool_node("a", 1), make_pool_node("b", 2)};
  lab_.hold(make_waiting("one", 1, 200), {"a"});
  lab_.hold(make_waiting("two", 1, 1000), {"b"});
  auto first = make_waiting("first", 2, 5000);
  first.spec.gpus_per_worker = 2;
  EXPECT_EQ(likely({first}, make_waiting("me", 1)).from, at(1000));
  EXPECT_EQ(latest({first}, make_waiting("me", 1)).at, at(1000 + kEnding));
}

TEST_F(Forecast, ABudgetThatDoesNotSufficeIsSaid) {
  lab_.hold(make_waiting("one", 1, 1000), {"a"}, 0);
  lab_.hold(make_waiting("two", 1, 400), {"b"}, 0);
  Budget few([] { return false; }, 1);
  const auto queue = lab_.build({make_waiting("first", 1, 100)}, make_waiting("me", 1));
  EXPECT_TRUE(likely_start(queue, {}, now_, few).cut);
  Budget none([] { return true; });
  EXPECT_TRUE(likely_start(queue, {}, now_, none).cut);
  EXPECT_TRUE(latest_start(queue, now_, none).cut);
}

TEST_F(Forecast, WaitsForSlices) {
  const auto pool = test::make_sharing_pool();
  lab_ = SnapshotBuilder(pool);
  lab_.shared = {test::make_shared_node("a", pool)};
  const auto with_slices = [](const std::string& name, std::int64_t slices,
                              std::optional<std::int64_t> deadline) {
    auto job = make_waiting(name, 1, deadline);
    job.spec.slice.emplace().count = slices;
    return job;
  };
  lab_.hold(with_slices("one", 4, 1000), {"a"}, 0, 4);
  lab_.hold(with_slices("two", 4, 400), {"a"}, 0, 4);
  EXPECT_EQ(likely({}, with_slices("me", 2, 10)).from, now_) << "two are free";
  EXPECT_EQ(likely({}, with_slices("me", 5, 10)).from, at(400));
  EXPECT_EQ(likely({}, with_slices("me", 7, 10)).from, at(1000));
  EXPECT_EQ(likely({with_slices("first", 6, 200)}, with_slices("me", 2, 10)).from, at(600));
  EXPECT_EQ(latest({}, with_slices("me", 7, 10)).at, at(1000 + kEnding));
  EXPECT_EQ(latest({}, with_slices("me", 2, 10)).at, now_);
}

TEST(RunTimes, KeepsTheNewest) {
  RunTimes times;
  for (std::size_t i = 0; i < RunTimes::kMost; ++i) times.add(test::ended_job(make_waiting("old", 1), 7));
  EXPECT_EQ(times.by_kind().at(RunTimes::kind_of(make_waiting("old", 1))).size(), RunTimes::kMost);
  times.add(test::ended_job(make_waiting("new", 2), 5));
  EXPECT_EQ(times.by_kind().at(RunTimes::kind_of(make_waiting("old", 1))).size(), RunTimes::kMost - 1);
  EXPECT_THAT(times.by_kind().at(RunTimes::kind_of(make_waiting("new", 2))),
              testing::ElementsAre(std::chrono::seconds(5)));
}

TEST(RunTimes, AJobThatNeverRanIsNoSample) {
  RunTimes times;
  auto job = make_waiting("job", 1);
  job.status.completion_time = at(5);
  times.add(job);
  EXPECT_TRUE(times.by_kind().empty());
}

}  // namespace
}  // namespace gpupool::planning
