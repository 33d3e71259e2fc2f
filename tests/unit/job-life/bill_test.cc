// SPDX-License-Identifier: Apache-2.0
// What the status says about what a job held, in lives of jobs. The world compares every bill with its own
// count.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>

#include "api/v1alpha1/names.h"
#include "api/v1alpha1/reasons.h"
#include "tests/unit/job-life/nothing_left.h"
#include "tests/unit/job-life/world.h"

namespace gpupool::planning {
namespace {

using std::chrono::seconds;
using test::Ending;
using test::World;
using testing::ElementsAre;
using testing::IsEmpty;
namespace phase = api::phase;

// The commands run until end() is called.
class Priced {
 public:
  explicit Priced(std::int64_t gpus, const std::vector<std::string>& nodes = {"a", "b", "c"})
      : world(gpus, nodes) {
    world.set_prices();
    world.ending = [this](std::int64_t, std::int64_t) { return ends_ ? Ending::kSuccess : Ending::kNever; };
  }
  bool run() {
    return world.run([&] { return world.running(); });
  }
  bool end() {
    ends_ = true;
    return world.run();
  }
  const api::JobBill& bill() const { return *world.job.status.bill(); }
  const std::vector<api::BillSegment>& segments() const { return bill().segments; }
  void set_price(const std::string& amount) { world.pool->spec.price->models = {{"A", amount}}; }

  World world;

 private:
  bool ends_ = false;
};

std::int64_t length(const api::BillSegment& segment) {
  return std::chrono::duration_cast<seconds>(*segment.to - *segment.from).count();
}

TEST(Bill, OneGpuForAnHour) {
  Priced job(1);
  job.set_price("3.10");
  ASSERT_TRUE(job.run());
  job.world.now += seconds(3600);
  ASSERT_TRUE(job.end());
  ASSERT_EQ(job.segments().size(), 1U);
  const auto& segment = job.segments().front();
  EXPECT_EQ(segment.number, 1);
  EXPECT_THAT(segment.nodes, ElementsAre("a"));
  EXPECT_EQ(segment.terms, (api::BillTerms{"lab", "alice", "EUR", "3.100000", 10, 1, 0, 0}));
  EXPECT_GE(length(segment), 3600);
  EXPECT_LE(length(segment), 3600 + 4 * 5) << "the world has a pace of 5 s";
  EXPECT_EQ(job.bill().gpu_seconds, length(segment));
  EXPECT_NEAR(std::stod(job.bill().cost), 3.10 * static_cast<double>(length(segment)) / 3600, 1e-6);
  EXPECT_THAT(job.bill().open, IsEmpty());
  test::expect_nothing_left(job.world);
}

TEST(Bill, NothingIsWrittenWithoutAPrice) {
  World world(2, {"a", "b"});
  ASSERT_TRUE(world.run());
  EXPECT_EQ(world.job.status.bill(), nullptr);
}

TEST(Bill, CostsNoWrite) {
  World plain(2, {"a", "b"});
  ASSERT_TRUE(plain.run());
  World priced(2, {"a", "b"});
  priced.set_prices();
  ASSERT_TRUE(priced.run());
  EXPECT_EQ(priced.writes, plain.writes);
}

TEST(Bill, EachOwnerHasASegment) {
  Priced job(3);
  ASSERT_TRUE(job.run());
  EXPECT_EQ(job.bill().open.size(), 3U);
  job.world.now += seconds(100);
  ASSERT_TRUE(job.end());
  std::vector<std::string> owners;
  for (const auto& segment : job.segments()) owners.push_back(segment.terms.owner);
  EXPECT_THAT(owners, ElementsAre("alice", "bob", ""));
}

TEST(Bill, NodesWithTheSameTermsAreOneSegmentThatIsNamedAtTheEnd) {
  Priced job(3, {"a", "b", "c"});
  for (auto& [name, node] : job.world.nodes) node.metadata.labels.erase(api::kOwnerLabel);
  ASSERT_TRUE(job.run());
  ASSERT_EQ(job.bill().open.size(), 1U);
  EXPECT_THAT(job.bill().open.front().nodes, IsEmpty()) << "all of the lease";
  job.world.now += seconds(100);
  ASSERT_TRUE(job.end());
  ASSERT_EQ(job.segments().size(), 1U);
  EXPECT_THAT(job.segments().front().nodes, ElementsAre("a", "b", "c"));
  EXPECT_EQ(job.segments().front().node_count, 3);
}

TEST(Bill, AChangeOfPricesIsForLaterLeases) {
  Priced job(1);
  job.set_price("1.00");
  ASSERT_TRUE(job.run());
  job.set_price("9.00");
  job.world.now += seconds(60);
  job.world.change_spec([](auto& spec) { spec.suspend = true; });
  ASSERT_TRUE(job.world.run([&] { return job.world.job.status.phase == phase::kSuspended; }));
  job.world.change_spec([](auto& spec) { spec.suspend = false; });
  ASSERT_TRUE(job.run());
  job.world.now += seconds(60);
  ASSERT_TRUE(job.end());
  ASSERT_EQ(job.segments().size(), 2U);
  EXPECT_EQ(job.segments()[0].terms.per_gpu_hour, "1.000000");
  EXPECT_EQ(job.segments()[1].terms.per_gpu_hour, "9.000000");
  EXPECT_THAT(job.world.broken, IsEmpty());
}

TEST(Bill, APoolThatGetsAPriceBillsNoLeaseThatHasBegun) {
  Priced job(1);
  const auto price = job.world.pool->spec.price;
  job.world.pool->spec.price.reset();
  ASSERT_TRUE(job.run());
  job.world.pool->spec.price = price;
  ASSERT_TRUE(job.world.run([&] { return job.world.running(); }));
  EXPECT_EQ(job.world.job.status.bill(), nullptr);
}

TEST(Bill, ALostNodeIsBilledUntilItWasNotReady) {
  Priced job(2);
  ASSERT_TRUE(job.run());
  job.world.now += seconds(100);
  const auto silent = job.world.now;
  job.world.lose_node("b");
  job.world.now += seconds(31);
  ASSERT_TRUE(job.world.run([&] { return job.world.job.status.attempts == 2 && job.world.running(); }));
  ASSERT_EQ(job.segments().size(), 1U);
  EXPECT_THAT(job.segments().front().nodes, ElementsAre("b"));
  EXPECT_EQ(*job.segments().front().to, std::chrono::floor<seconds>(silent));
  ASSERT_EQ(job.bill().open.size(), 2U) << "a goes on, c has come";
  EXPECT_LT(*job.bill().open[0].from, silent);
  EXPECT_GT(*job.bill().open[1].from, silent);
  EXPECT_THAT(job.world.broken, IsEmpty());
}

TEST(Bill, ANodeThatJoinsCostsNoMoreThanTheOthers) {
  Priced job(2);
  job.set_price("1.00");
  ASSERT_TRUE(job.run());
  job.set_price("9.00");
  job.world.lose_node("b");
  job.world.now += seconds(31);
  ASSERT_TRUE(job.world.run([&] { return job.world.job.status.attempts == 2 && job.world.running(); }));
  ASSERT_EQ(job.bill().open.size(), 2U);
  EXPECT_EQ(job.bill().open[1].terms.per_gpu_hour, "1.000000");
}

TEST(Bill, WhileTheOperatorIsAwayAnEndedJobIsNotBilled) {
  Priced job(1);
  ASSERT_TRUE(job.run());
  job.world.now += seconds(50);
  const auto end = job.world.now;
  job.world.ending = [](std::int64_t, std::int64_t) { return Ending::kSuccess; };
  while (job.world.turn()) {
  }
  job.world.now += seconds(7200);
  ASSERT_TRUE(job.world.run());
  ASSERT_EQ(job.segments().size(), 1U);
  EXPECT_EQ(*job.segments().front().to, std::chrono::floor<seconds>(end));
}

TEST(Bill, AClockThatIsSetBackBillsNothing) {
  Priced job(1);
  ASSERT_TRUE(job.run());
  const auto from = *job.bill().open.front().from;
  job.world.now -= seconds(500);
  job.world.change_spec([](auto& spec) { spec.suspend = true; });
  ASSERT_TRUE(job.world.run([&] { return job.world.job.status.phase == phase::kSuspended; }));
  EXPECT_THAT(job.segments(), IsEmpty());
  EXPECT_EQ(job.bill().cost, "0.000000");
  job.world.change_spec([](auto& spec) { spec.suspend = false; });
  ASSERT_TRUE(job.run());
  EXPECT_LE(*job.bill().open.front().from, from);
}

TEST(Bill, SlicesCostTheirPartOfAGpu) {
  World world(1, {"a"});
  world.share(3);
  world.set_prices();
  world.pool->spec.price->models = {{"A", "1.00"}};
  ASSERT_TRUE(world.run());
  const auto& segments = world.job.status.bill()->segments;
  if (segments.empty()) return;  // it ended within a second
  EXPECT_EQ(segments.front().terms.slices, 3);
  EXPECT_EQ(segments.front().terms.split, 10);
  EXPECT_EQ(segments.front().terms.gpus, 0);
}

TEST(Bill, AJobPaysAtMostWhatItSays) {
  Priced job(1);
  job.world.job.spec.max_price_per_gpu_hour =
      std::string("0.50");  // the queue has given nodes before the price rose
  ASSERT_TRUE(job.run());
  EXPECT_EQ(job.bill().open.front().terms.per_gpu_hour, "0.500000");
}

TEST(Bill, TheFactsOfADeletedJobAreThereBeforeItGoes) {
  Priced job(2);
  ASSERT_TRUE(job.run());
  job.world.now += seconds(100);
  job.world.delete_job();
  ASSERT_TRUE(job.world.run([&] { return !job.world.job_exists; }));
  const auto& last = job.world.history.back();
  ASSERT_NE(last.bill(), nullptr);
  EXPECT_THAT(last.bill()->open, IsEmpty());
  EXPECT_EQ(last.bill()->segments.size(), 2U);
}

}  // namespace
}  // namespace gpupool::planning
