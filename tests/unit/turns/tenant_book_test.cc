// SPDX-License-Identifier: Apache-2.0
#include "planning/tenants/tenant_book.h"

#include <gtest/gtest.h>

#include "planning/queue/pool_turns.h"
#include "tests/unit/planning/builders.h"

namespace gpupool::planning {
namespace {

using test::at;

api::PoolQueueSpec spec_of(std::int64_t half_life = api::kDefaultHalfLifeSeconds) {
  api::PoolQueueSpec spec;
  spec.half_life_seconds = half_life;
  spec.tenants = {{"a", {"a"}, 1, 0, {}, {}}};
  return spec;
}

class Book : public testing::Test {
 protected:
  std::string used(const std::string& tenant, std::int64_t seconds) {
    for (const auto& each : book_.statuses({}, 10, at(seconds))) {
      if (each.name == tenant) return each.usage;
    }
    return "";
  }
  TenantBook book_{spec_of(), {}, at(0)};
};

TEST_F(Book, CountsAJobOnce) {
  book_.hold({"a", "job"}, "a", 2 * kMilli, at(0));
  book_.hold({"a", "job"}, "a", 2 * kMilli, at(5));
  EXPECT_EQ(book_.share("a", at(10)).held, 2 * kMilli);
  book_.hold({"a", "job"}, "a", 1 * kMilli, at(10));
  EXPECT_EQ(book_.share("a", at(10)).held, 1 * kMilli);
  book_.release({"a", "job"}, at(20));
  book_.release({"a", "job"}, at(25));
  EXPECT_EQ(used("a", 30), std::to_string(30 * kMilli));
}

TEST_F(Book, ForgetsJobsThatAreGone) {
  book_.hold({"a", "stays"}, "a", kMilli, at(0));
  book_.hold({"a", "gone"}, "a", kMilli, at(0));
  book_.release_others({{"a", "stays"}}, at(10));
  EXPECT_EQ(book_.share("a", at(10)).held, kMilli);
}

TEST_F(Book, GoesOnFromTheStatus) {
  book_.hold({"a", "job"}, "a", kMilli, at(0));
  book_.hold({"b", "job"}, "b", kMilli, at(0));
  api::QueueStatus stored;
  stored.as_of = at(100);
  stored.tenants = book_.statuses({{"c", 3}}, 10, at(100));
  ASSERT_EQ(stored.tenants.size(), 3U);
  EXPECT_EQ(stored.tenants[0].name, "a") << "those of the spec first";
  EXPECT_EQ(stored.tenants[1].held, "1");
  EXPECT_EQ(stored.tenants[2].queued, 3);
  TenantBook next(spec_of(), stored, at(150));
  next.hold({"a", "job"}, "a", kMilli, at(0));
  EXPECT_EQ(next.share("a", at(200)).average, book_.share("a", at(200)).average);
  book_ = std::move(next);
  EXPECT_EQ(used("a", 200), std::to_string(200 * kMilli)) << "what it held while nobody looked counts";
  EXPECT_EQ(used("b", 200), std::to_string(100 * kMilli)) << "its job is gone";
}

TEST_F(Book, AStatusThatSomebodyHasEditedHarmsNothing) {
  api::QueueStatus stored;
  stored.as_of = at(1'000'000'000);
  stored.tenants = {{"a", 0, "x", "y", "-5"}, {"b", 0, "", "", "many"}};
  book_ = TenantBook(spec_of(), stored, at(0));
  EXPECT_EQ(used("a", 0), "0");
  EXPECT_EQ(book_.share("b", at(0)).average, 0);
}

TEST_F(Book, FewOfManyOthersAreShown) {
  for (int i = 0; i < 20; ++i)
    book_.hold({"n" + std::to_string(i), "job"}, "n" + std::to_string(i), (i + 1) * kMilli, at(0));
  const auto shown = book_.statuses({}, 3, at(10));
  ASSERT_EQ(shown.size(), 4U);
  EXPECT_EQ(shown[1].name, "n19") << "those that hold most";
}

TEST_F(Book, AnotherHalfLifeKeepsWhatWasUsed) {
  book_.hold({"a", "job"}, "a", kMilli, at(0));
  book_.change(spec_of(3600), at(100));
  EXPECT_EQ(used("a", 100), std::to_string(100 * kMilli));
  EXPECT_EQ(book_.share("a", at(100)).held, kMilli);
}

// However long the first write of the job's status takes: a new leader reads the time in it.
TEST_F(Book, CountsAGrantAsUsedFromTheTimeInTheStatusOn) {
  auto pool = test::make_pool();
  pool.spec.queue.emplace();
  PoolTurns turns(test::share(pool), book_);
  const auto put = [&](bool granted, std::int64_t since) {
    TurnHold hold;
    hold.holding.tenant = "a";
    hold.holding.amount = 2 * kMilli;
    hold.holding.held_since = at(since);
    hold.granted = granted;
    turns.put_hold({"a", "job"}, std::move(hold));
  };
  turns.advance(at(0));
  put(true, 0);
  EXPECT_EQ(book_.share("a", at(3)).held, 2 * kMilli);
  EXPECT_EQ(used("a", 3), "0");
  turns.advance(at(5));
  put(false, 4);
  EXPECT_EQ(book_.share("a", at(5)).held, 2 * kMilli);
  EXPECT_EQ(used("a", 14), std::to_string(10 * 2 * kMilli));
}

}  // namespace
}  // namespace gpupool::planning
