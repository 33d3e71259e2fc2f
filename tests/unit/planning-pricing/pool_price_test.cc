// SPDX-License-Identifier: Apache-2.0
#include "planning/pricing/pool_price.h"

#include <chrono>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "planning/pricing/price_list.h"

namespace gpupool::planning {
namespace {

using std::chrono::seconds;
using testing::HasSubstr;
using testing::StartsWith;

base::WallTime at(int second) { return base::WallTime(seconds(second)); }

api::PoolPrice price() { return {"EUR", "1.20", {{"H100", "3.10"}}, 10, {}}; }

TEST(PoolPrice, IsOfTheModelOrOfAllOthers) {
  EXPECT_EQ(price_of(price(), "H100", at(0)), 3'100'000);
  EXPECT_EQ(price_of(price(), "A100", at(0)), 1'200'000);
  EXPECT_EQ(price_of(price(), "", at(0)), 1'200'000);
}

TEST(PoolPrice, FollowsTheSchedule) {
  auto scheduled = price();
  scheduled.schedule = {{at(200), "5", {}}, {at(100), "2", {{"H100", "4"}}}};
  EXPECT_EQ(price_of(scheduled, "A100", at(99)), 1'200'000);
  EXPECT_EQ(price_of(scheduled, "A100", at(100)), 2'000'000);
  EXPECT_EQ(price_of(scheduled, "H100", at(100)), 4'000'000);
  EXPECT_EQ(price_of(scheduled, "A100", at(200)), 5'000'000);
  EXPECT_EQ(price_of(scheduled, "H100", at(200)), 3'100'000) << "no models: those of the pool";
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

TEST(PriceLimit, AllowsWhatCostsAtMostThat) {
  const auto prices = *prices_at(base::Boxed<api::PoolPrice>(price()), at(0));
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
  const auto prices = *prices_at(base::Boxed<api::PoolPrice>({"EUR", "5", {{"T4", "0.40"}}, 0, {}}), at(0));
  const auto limit = price_limit(prices, "1");
  EXPECT_TRUE(limit.allows("T4"));
  EXPECT_FALSE(limit.allows("H100"));
}

TEST(PriceLimit, ThereIsNoneWithoutAPrice) {
  EXPECT_FALSE(prices_at({}, at(0)));
  EXPECT_FALSE(prices_at(base::Boxed<api::PoolPrice>({"eur", "5", {}, 0, {}}), at(0))) << "not a valid price";
}

}  // namespace
}  // namespace gpupool::planning
