// SPDX-License-Identifier: Apache-2.0
#include "base/money.h"

#include <limits>

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include "base/wide.h"

namespace gpupool::base {
namespace {

TEST(Money, ReadsDecimalNumbers) {
  EXPECT_EQ(parse_micros("1.20"), 1'200'000);
  EXPECT_EQ(parse_micros("0.000001"), 1);
  EXPECT_EQ(parse_micros("7"), 7'000'000);
  EXPECT_EQ(parse_micros("999999999999.999999"), 999'999'999'999'999'999);
}

TEST(Money, RefusesWhatIsNoAmount) {
  for (const char* text : {"", ".", "1.", ".5", "-1", "+1", "1e3", "1.0000001", "1000000000000", "1,5", " 1",
                           "1 ", "1.2.3", "0x1", "NaN"})
    EXPECT_FALSE(parse_micros(text)) << text;
}

TEST(Money, IsWrittenWithSixDigits) {
  EXPECT_EQ(micros_text(0), "0.000000");
  EXPECT_EQ(micros_text(13'744'667), "13.744667");
  EXPECT_EQ(micros_text(-500'000), "-0.500000");
  EXPECT_EQ(micros_text(std::numeric_limits<Micros>::min()), "-9223372036854.775808");
}

RC_GTEST_PROP(MoneyProperty, IsReadAsItWasWritten, ()) {
  const auto amount = *rc::gen::inRange<Micros>(0, 999'999'999'999'999'999);
  RC_ASSERT(parse_micros(micros_text(amount)) == amount);
}

// A time that is cut into pieces costs what the whole costs: to the millionth, however many pieces there are.
RC_GTEST_PROP(MoneyProperty, PiecesCostWhatTheWholeCosts, ()) {
  const auto price = *rc::gen::inRange<std::int64_t>(0, 100'000'000);
  const auto units = *rc::gen::inRange<std::int64_t>(1, 9000);
  const auto split = *rc::gen::inRange<std::int64_t>(1, 101);
  const auto pieces =
      *rc::gen::container<std::vector<std::int64_t>>(rc::gen::inRange<std::int64_t>(0, 100'000));
  std::int64_t all = 0;
  Charge sum;
  for (const auto piece : pieces) {
    all += piece;
    const auto charge = charge_for(price, units, split, piece, sum.carry);
    RC_ASSERT(charge.has_value());
    sum = {sum.amount + charge->amount, charge->carry};
  }
  const auto whole = charge_for(price, units, split, all, 0);
  RC_ASSERT(whole.has_value());
  RC_ASSERT(sum.amount == whole->amount);
  RC_ASSERT(sum.carry == whole->carry);
  RC_ASSERT(Wide{sum.amount} * 3600 * split + sum.carry == Wide{price} * units * all);
}

TEST(Money, WhatDoesNotFitIsNothing) {
  const auto most = std::numeric_limits<std::int64_t>::max();
  EXPECT_FALSE(charge_for(most, most, 1, most, 0));
  EXPECT_FALSE(charge_for(most, 3600, 1, 3600, 0));
}

}  // namespace
}  // namespace gpupool::base
