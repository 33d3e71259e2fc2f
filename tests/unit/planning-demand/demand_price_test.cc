// SPDX-License-Identifier: Apache-2.0
#include "planning/demand/demand_price.h"

#include <algorithm>
#include <vector>

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

namespace gpupool::planning {
namespace {

constexpr DemandPolicy kPolicy{200'000, 3'000'000, 150'000, 10};
constexpr std::int64_t kHour = 3600;

std::int64_t profit_at(Price price, const std::vector<Bid>& bids, std::int64_t capacity, Price cost) {
  std::int64_t asked = 0;
  for (const auto& bid : bids) asked += bid.highest >= price ? bid.gpu_seconds : 0;
  return std::min(asked, capacity) * (price - cost);
}

std::vector<Bid> any_bids() {
  std::vector<Bid> bids(*rc::gen::inRange<std::size_t>(0, 12));
  for (auto& bid : bids)
    bid = {*rc::gen::inRange<std::uint64_t>(0, 3), *rc::gen::inRange(0, 60), *rc::gen::inRange(-2, 40)};
  return bids;
}

TEST(DemandPrice, IsTheFloorWithoutBids) { EXPECT_EQ(best_price({}, kHour, kPolicy), kPolicy.floor); }

TEST(DemandPrice, TakesTheFewerWhoPayMore) {
  const std::vector<Bid> bids{{1, 1'000'000, kHour}, {2, 400'000, kHour}};
  EXPECT_EQ(best_price(bids, 10 * kHour, kPolicy), 1'000'000);  // 0.85 against 2 * 0.25
}

TEST(DemandPrice, SellsMoreForLessWherePossible) {
  const std::vector<Bid> bids{{1, 1'000'000, kHour}, {2, 900'000, kHour}};
  EXPECT_EQ(best_price(bids, 10 * kHour, kPolicy), 900'000);
  EXPECT_EQ(best_price(bids, kHour, kPolicy), 1'000'000) << "there is no second hour to sell";
}

TEST(DemandPrice, StaysWithinFloorAndCeiling) {
  EXPECT_EQ(best_price(std::vector<Bid>{{1, 9'000'000, kHour}}, kHour, kPolicy), kPolicy.ceiling);
  EXPECT_EQ(best_price(std::vector<Bid>{{1, 100'000, kHour}}, kHour, kPolicy), kPolicy.floor);
}

TEST(DemandPrice, SumsBeyond64Bits) {
  const std::vector<Bid> bids{
      {1, 3'000'000, INT64_MAX / 2}, {2, 2'900'000, INT64_MAX / 2}, {3, 2'800'000, INT64_MAX / 2}};
  EXPECT_EQ(best_price(bids, INT64_MAX, kPolicy), 2'900'000);
}

TEST(DemandPrice, MovesInSteps) {
  EXPECT_EQ(next_price(1'000'000, 3'000'000, kPolicy), 1'100'000);
  EXPECT_EQ(next_price(1'000'000, 200'000, kPolicy), 900'000);
  EXPECT_EQ(next_price(1'000'000, 1'050'000, kPolicy), 1'050'000);
  EXPECT_EQ(next_price(210'000, 0, kPolicy), kPolicy.floor);
  EXPECT_EQ(next_price(5, 100, {0, 100, 0, 1}), 6) << "at least 1";
}

RC_GTEST_PROP(DemandPriceProperty, EarnsAsMuchAsTheBestOfAllPrices, ()) {
  const auto bids = any_bids();
  const auto floor = *rc::gen::inRange(0, 30);
  const DemandPolicy policy{floor, *rc::gen::inRange(floor, 60), *rc::gen::inRange(0, 40), 10};
  const std::int64_t capacity = *rc::gen::inRange(1, 200);
  std::vector<Bid> counted;
  for (const auto& bid : bids) {
    if (bid.gpu_seconds > 0) counted.push_back(bid);
  }
  const auto price = best_price(bids, capacity, policy);
  RC_ASSERT(price >= policy.floor && price <= policy.ceiling);
  std::int64_t most = 0;
  for (Price other = policy.floor; other <= policy.ceiling; ++other)
    most = std::max(most, profit_at(other, counted, capacity, policy.cost));
  RC_ASSERT(std::max<std::int64_t>(profit_at(price, counted, capacity, policy.cost), 0) == most);
}

RC_GTEST_PROP(DemandPriceProperty, OwnBidsDoNotMoveOnesOwnPrice, ()) {
  const auto bids = any_bids();
  auto shaded = bids;
  for (auto& bid : shaded) {
    if (bid.bidder == 1) bid.highest /= 2;
  }
  const DemandPolicy policy{1, 60, 0, 10};
  RC_ASSERT(best_price(bids, 50, policy, 1) == best_price(shaded, 50, policy, 1));
}

}  // namespace
}  // namespace gpupool::planning
