// SPDX-License-Identifier: Apache-2.0
#include "base/quantity.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <limits>

namespace gpupool::base {
namespace {

struct Case {
  const char* text;
  std::optional<std::int64_t> value;
};

class Quantity : public testing::TestWithParam<Case> {};

// The values of Quantity.Value() in k8s.io/apimachinery.
TEST_P(Quantity, IsReadAsKubernetesDoes) { EXPECT_EQ(parse_quantity(GetParam().text), GetParam().value); }

constexpr std::nullopt_t kNone = std::nullopt;
INSTANTIATE_TEST_SUITE_P(
    , Quantity,
    testing::Values(Case{"0", 0}, Case{"8", 8}, Case{"+8", 8}, Case{"-8", -8}, Case{"007", 7}, Case{"5.", 5},
                    Case{".5", 1}, Case{"1.0", 1}, Case{"1.000001", 2}, Case{"-1.5", -2},
                    Case{"16Gi", 16LL << 30}, Case{"1Ki", 1024}, Case{"0.5Ki", 512}, Case{"1.1Ki", 1127},
                    Case{"1Ei", 1LL << 60}, Case{"7.999Ei", 9222219115350168962}, Case{"500m", 1},
                    Case{"1500m", 2}, Case{"2000m", 2}, Case{"1n", 1}, Case{"0n", 0}, Case{"3u", 1},
                    Case{"4k", 4000}, Case{"4M", 4000000}, Case{"1G", 1000000000}, Case{"2T", 2000000000000},
                    Case{"3P", 3000000000000000}, Case{"1E", 1000000000000000000}, Case{"1e3", 1000},
                    Case{"1E3", 1000}, Case{"12e+2", 1200}, Case{"1500e-3", 2}, Case{"1e-400", 1},
                    Case{"0e999999999999", 0},
                    Case{"9223372036854775807", std::numeric_limits<std::int64_t>::max()},
                    Case{"9223372036854775808", kNone}, Case{"9223372036854775807.1", kNone},
                    Case{"8Ei", kNone}, Case{"10E", kNone}, Case{"1e19", kNone},
                    Case{"1e999999999999", kNone}, Case{"", kNone}, Case{"+", kNone}, Case{".", kNone},
                    Case{"Gi", kNone}, Case{"1 Gi", kNone}, Case{" 1", kNone}, Case{"1gi", kNone},
                    Case{"1K", kNone}, Case{"1e", kNone}, Case{"1e+", kNone}, Case{"1e3k", kNone},
                    Case{"--1", kNone}, Case{"1.2.3", kNone}, Case{"0x10", kNone}, Case{"1e1.5", kNone},
                    Case{"NaN", kNone}));

TEST(QuantityFormat, UsesTheLargestUnitThatDivides) {
  EXPECT_EQ(format_binary(0), "0");
  EXPECT_EQ(format_binary(1000), "1000");
  EXPECT_EQ(format_binary(1024), "1Ki");
  EXPECT_EQ(format_binary(std::int64_t{512} << 20), "512Mi");
  EXPECT_EQ(format_binary(std::int64_t{1536} << 20), "1536Mi");
  EXPECT_EQ(format_binary(std::int64_t{16} << 30), "16Gi");
  EXPECT_EQ(format_binary(std::int64_t{1} << 60), "1Ei");
  EXPECT_EQ(format_binary(-2048), "-2Ki");
}

RC_GTEST_PROP(QuantityProperty, FormattedBytesReadBack, (std::int64_t value, std::uint8_t shift)) {
  const std::int64_t bytes = (value >> (shift % 64)) << (shift % 32);
  RC_PRE(bytes != std::numeric_limits<std::int64_t>::min());
  RC_ASSERT(parse_quantity(format_binary(bytes)) == bytes);
}

RC_GTEST_PROP(QuantityProperty, MillisAreRoundedAwayFromZero, (std::int32_t millis)) {
  const std::int64_t m = millis;
  const std::int64_t expected = m >= 0 ? (m + 999) / 1000 : -((-m + 999) / 1000);
  RC_ASSERT(parse_quantity(std::to_string(m) + "m") == expected);
}

RC_GTEST_PROP(QuantityProperty, AnyTextIsAnswered, (const std::string& text)) { parse_quantity(text); }

TEST(ParseMilliQuantity, CountsThousandths) {
  EXPECT_EQ(parse_milli_quantity("500m"), 500);
  EXPECT_EQ(parse_milli_quantity("2"), 2000);
  EXPECT_EQ(parse_milli_quantity("0.1"), 100);
  EXPECT_EQ(parse_milli_quantity("100u"), 1) << "rounded up";
  EXPECT_EQ(parse_milli_quantity("9223372036854775807"), std::nullopt);
}

}  // namespace
}  // namespace gpupool::base
