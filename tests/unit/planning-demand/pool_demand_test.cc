// SPDX-License-Identifier: Apache-2.0
#include "planning/demand/pool_demand.h"

#include <chrono>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace gpupool::planning {
namespace {

using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;

base::WallTime decision_time() { return base::WallTime(std::chrono::hours(1000)); }

api::GpuPool demand_pool() {
  api::GpuPool pool;
  pool.spec.price = api::PoolPrice{"EUR", "1.00", {}, 0, {}, {}};
  pool.spec.price->demand = api::DemandPrice{"0.50", "3", "0.10", 10, 15};
  return pool;
}

api::GpuPool priced_pool(const std::string& price, base::WallTime decided) {
  auto pool = demand_pool();
  pool.status.price = api::PoolPriceNow{price, price, 0, decided};
  return pool;
}

base::Duration until(const api::GpuPool& pool) {
  return until_decision(*pool.spec.price->demand, pool.status.price, decision_time());
}

TEST(PoolDemand, IsDecidedAtOnceAndThenEveryPeriod) {
  EXPECT_EQ(until(demand_pool()), seconds(0));
  EXPECT_EQ(until(priced_pool("1", decision_time())), minutes(15));
  EXPECT_EQ(until(priced_pool("1", decision_time() - minutes(14))), minutes(1));
  EXPECT_EQ(until(priced_pool("1", decision_time() - minutes(15))), seconds(0));
}

TEST(PoolDemand, AClockThatWasSetBackDoesNotHoldThePrice) {
  EXPECT_EQ(until(priced_pool("1", decision_time() + minutes(5))), minutes(20));
  EXPECT_EQ(until(priced_pool("1", decision_time() + minutes(16))), seconds(0));
}

TEST(PoolDemand, BeginsWithTheFirstPriceAndMovesStepByStepToTheBest) {
  auto pool = demand_pool();
  const std::vector<Bid> bids = {{1, 2'000'000, 3600}};
  auto price = decide_price(pool, bids, 3600, decision_time() + milliseconds(300));
  EXPECT_EQ(price, (api::PoolPriceNow{"1.000000", "2.000000", 1, decision_time()}));
  for (const auto* expected : {"1.100000", "1.210000", "1.331000"}) {
    pool.status.price = price;
    price = decide_price(pool, bids, 3600, decision_time());
    EXPECT_EQ(price.per_gpu_hour, expected);
  }
}

TEST(PoolDemand, WithoutBidsItFallsToTheFloorAndStaysThere) {
  auto pool = priced_pool("0.52", decision_time());
  for (int i = 0; i < 2; ++i) {
    pool.status.price = decide_price(pool, {}, 3600, decision_time());
    EXPECT_EQ(pool.status.price->per_gpu_hour, "0.500000");
    EXPECT_EQ(pool.status.price->best, "0.500000");
    EXPECT_EQ(pool.status.price->bids, 0);
  }
}

TEST(PoolDemand, NewBoundsHoldAtOnce) {
  auto pool = priced_pool("1.000000", decision_time());
  EXPECT_EQ(keep_price(pool, decision_time()), *pool.status.price);
  pool.spec.price->demand->floor = "1.50";
  EXPECT_EQ(keep_price(pool, decision_time()).per_gpu_hour, "1.500000");
  EXPECT_EQ(keep_price(pool, decision_time()).decided_at, decision_time())
      << "and the next step comes when it would have come";
}

}  // namespace
}  // namespace gpupool::planning
