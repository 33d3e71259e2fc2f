// SPDX-License-Identifier: Apache-2.0
#include "planning/pricing/pool_price.h"

#include <chrono>
#include <utility>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "planning/pricing/price_list.h"

namespace gpupool::planning {
namespace {

using std::chrono::seconds;
using testing::HasSubstr;
using testing::StartsWith;

base::WallTime at(int second) { return base::WallTime(seconds(second)); }

api::PoolPrice price() { return {"EUR", "1.20", {{"H100", "3.10"}}, 10, {}, {}}; }

api::GpuPool pool(api::PoolPrice price) {
  api::GpuPool pool;
  pool.spec.price = std::move(price);
  return pool;
}

TEST(PoolPrice, IsOfTheModelOrOfAllOthers) {
  EXPECT_EQ(price_of(pool(price()), "H100", at(0)), 3'100'000);
  EXPECT_EQ(price_of(pool(price()), "A100", at(0)), 1'200'000);
  EXPECT_EQ(price_of(pool(price()), "", at(0)), 1'200'000);
}

TEST(PoolPrice, FollowsTheSchedule) {
  auto scheduled = price();
  scheduled.schedule = {{at(200), "5", {}}, {at(100), "2", {{"H100", "4"}}}};
  EXPECT_EQ(price_of(pool(scheduled), "A100", at(99)), 1'200'000);
  EXPECT_EQ(price_of(pool(scheduled), "A100", at(100)), 2'000'000);
  EXPECT_EQ(price_of(pool(scheduled), "H100", at(100)), 4'000'000);
  EXPECT_EQ(price_of(pool(scheduled), "A100", at(200)), 5'000'000);
  EXPECT_EQ(price_of(pool(scheduled), "H100", at(200)), 3'100'000) << "no models: those of the pool";
  EXPECT_EQ(next_price_change(scheduled, at(99)), at(100));
  EXPECT_EQ(next_price_change(scheduled, at(100)), at(200));
  EXPECT_EQ(next_price_change(scheduled, at(200)), std::nullopt);
}

TEST(PoolPrice, SaysWhatIsWrong) {
  EXPECT_EQ(check_price(price()), "");
  const auto wrong = [](auto change) {
    auto changed = price();
    change(changed);
    return check_price(changed);
  };
  EXPECT_THAT(wrong([](auto& p) { p.currency = "Eur"; }), StartsWith("currency: \"Eur\""));
  EXPECT_THAT(wrong([](auto& p) { p.per_gpu_hour = "-1"; }), StartsWith("perGpuHour: \"-1\""));
  EXPECT_THAT(wrong([](auto& p) { p.models = {{"H100", "x"}}; }), HasSubstr("H100"));
  EXPECT_THAT(wrong([](auto& p) { p.fee = 101; }), StartsWith("fee"));
  EXPECT_THAT(wrong([](auto& p) { p.schedule = {{std::nullopt, "1", {}}}; }), StartsWith("schedule"));
  EXPECT_THAT(wrong([](auto& p) { p.schedule = {{at(1), "", {}}}; }), StartsWith("schedule"));
}

api::PoolPrice on_demand() {
  api::PoolPrice price{"EUR", "1.20", {}, 10, {}, {}};
  price.demand = api::DemandPrice{"0.50", "3"};
  return price;
}

TEST(PoolPrice, ThatFollowsDemandIsTheOneDecidedLastWithinTheBoundsOfNow) {
  auto object = pool(on_demand());
  EXPECT_EQ(price_of(object, "H100", at(0)), 1'200'000) << "the first price";
  object.status.price = api::PoolPriceNow{"1.08", "0.90", 3, at(0)};
  EXPECT_EQ(price_of(object, "", at(0)), 1'080'000);
  object.spec.price->demand->floor = "2";
  EXPECT_EQ(price_of(object, "", at(0)), 2'000'000);
  object.spec.price->demand->floor = "0.10";
  object.spec.price->demand->ceiling = "1";
  EXPECT_EQ(price_of(object, "", at(0)), 1'000'000);
  object.spec.price->demand.reset();
  EXPECT_EQ(price_of(object, "", at(0)), 1'200'000) << "what was decided does not count any more";
}

TEST(PoolPrice, SaysWhatIsWrongWithDemand) {
  EXPECT_EQ(check_price(on_demand()), "");
  const auto wrong = [](auto change) {
    auto changed = on_demand();
    change(changed, *changed.demand);
    return check_price(changed);
  };
  EXPECT_THAT(wrong([](auto& p, auto&) { p.models = {{"H100", "2"}}; }), StartsWith("demand: a price that"));
  EXPECT_THAT(wrong([](auto& p, auto&) { p.schedule = {{at(1), "2", {}}}; }), StartsWith("demand: a price"));
  EXPECT_THAT(wrong([](auto&, auto& d) { d.floor = "-1"; }), StartsWith("demand.floor"));
  EXPECT_THAT(wrong([](auto&, auto& d) { d.floor = "0.00"; }), StartsWith("demand.floor: must be more"));
  EXPECT_THAT(wrong([](auto&, auto& d) { d.ceiling = ""; }), StartsWith("demand.ceiling"));
  EXPECT_THAT(wrong([](auto&, auto& d) { d.cost = "x"; }), StartsWith("demand.cost"));
  EXPECT_THAT(wrong([](auto&, auto& d) { d.floor = "1.21"; }), StartsWith("demand: perGpuHour"));
  EXPECT_THAT(wrong([](auto&, auto& d) { d.ceiling = "1.19"; }), StartsWith("demand: perGpuHour"));
  EXPECT_THAT(wrong([](auto&, auto& d) { d.step_percent = 0; }), StartsWith("demand.stepPercent"));
  EXPECT_THAT(wrong([](auto&, auto& d) { d.step_percent = 101; }), StartsWith("demand.stepPercent"));
  EXPECT_THAT(wrong([](auto&, auto& d) { d.every_minutes = 0; }), StartsWith("demand.everyMinutes"));
  EXPECT_THAT(wrong([](auto&, auto& d) { d.every_minutes = 1441; }), StartsWith("demand.everyMinutes"));
}

TEST(PriceList, KnowsItsHighestPrice) {
  EXPECT_EQ(highest_of(*prices_at(pool(price()), at(0))), 3'100'000);
  EXPECT_EQ(highest_of(*prices_at(pool({"EUR", "5", {{"T4", "0.40"}}, 0, {}, {}}), at(0))), 5'000'000);
}

TEST(PriceLimit, AllowsWhatCostsAtMostThat) {
  const auto prices = *prices_at(pool(price()), at(0));
  const auto limit = [&](const char* most) { return price_limit(prices, most); };
  EXPECT_FALSE(limit("").narrow());
  EXPECT_FALSE(limit("3.10").narrow());
  EXPECT_FALSE(limit("no price").narrow());
  EXPECT_FALSE(limit("1.20").allows("H100"));
  EXPECT_TRUE(limit("1.20").allows("A100"));
  EXPECT_TRUE(limit("1.20").allows(""));
  EXPECT_FALSE(limit("1.199999").allows("A100"));
  EXPECT_FALSE(limit("1.199999").allows("H100"));
  EXPECT_THAT(limit("1").text, HasSubstr("at most 1 EUR"));
}

TEST(PriceLimit, AModelMayCostLessThanTheOthers) {
  const auto prices = *prices_at(pool({"EUR", "5", {{"T4", "0.40"}}, 0, {}, {}}), at(0));
  const auto limit = price_limit(prices, "1");
  EXPECT_TRUE(limit.allows("T4"));
  EXPECT_FALSE(limit.allows("H100"));
}

TEST(PriceLimit, ThereIsNoneWithoutAPrice) {
  EXPECT_FALSE(prices_at(api::GpuPool(), at(0)));
  EXPECT_FALSE(prices_at(pool({"eur", "5", {}, 0, {}, {}}), at(0))) << "not a valid price";
}

}  // namespace
}  // namespace gpupool::planning
