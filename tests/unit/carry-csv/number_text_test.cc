// SPDX-License-Identifier: Apache-2.0
#include "csv/number_text.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <charconv>
#include <cmath>
#include <cstdlib>

#include "csv/cell.h"

namespace gpupool::carry::csv {
namespace {

// "i7": the integer 7; "n7.5": a number; "-": none.
std::string number_of_text(std::string_view text) {
  double value = 0;
  const auto kind = parse_number(text, value);
  if (kind == NumberKind::kNone) return "-";
  return (kind == NumberKind::kInteger ? "i" : "n") + number_text(value);
}

TEST(NumberText, ReadsWhatPandasReads) {
  for (const auto& [text, wanted] : std::initializer_list<std::pair<const char*, const char*>>{
           {"7", "i7"},
           {"007", "i7"},
           {"+5", "i5"},
           {"-5", "i-5"},
           {"-0", "i0"},
           {" 7", "i7"},
           {"7 ", "i7"},
           {"\t7\v", "i7"},
           {"1.", "n1"},
           {".5", "n0.5"},
           {"1e5", "n100000"},
           {"1E+5", "n100000"},
           {"-2.5e-1", "n-0.25"},
           {"inf", "ninf"},
           {"-Infinity", "n-inf"},
           {"+INF", "ninf"},
           {"1e-400", "n0"},
           {"9223372036854775807", "i9223372036854775808"},
           {"-9223372036854775808", "i-9223372036854775808"},
           {"9223372036854775808", "n9223372036854775808"},
           {"+0000000000000000000012", "i12"},
           {"0.1", "n0.1"},
           {"123456789012345678901234567890", "n1.2345678901234568e+29"}})
    EXPECT_EQ(number_of_text(text), wanted) << text;
  for (const auto* text : {"",
                           " ",
                           ".",
                           "-",
                           "+",
                           "--5",
                           "+-5",
                           "1e",
                           "1e+",
                           "e5",
                           "1e5.5",
                           "1_000",
                           "0x10",
                           "1 2",
                           "1,5",
                           "+ 5",
                           "1.5.2",
                           "1e400",
                           "-1e400",
                           "nan",
                           "NAN",
                           "infinit",
                           "1inf",
                           ".inf",
                           "\xc2\xa0"
                           "7",
                           "True"})
    EXPECT_EQ(number_of_text(text), "-") << text;
}

TEST(NumberText, KeepsAllBitsOfIntegers) {
  EXPECT_EQ(parse_integer("9223372036854775807"), 9223372036854775807);
  EXPECT_EQ(parse_integer(" +12 "), 12);
  EXPECT_EQ(parse_integer("9223372036854775808"), std::nullopt);
  EXPECT_EQ(parse_integer("1.0"), std::nullopt);
  EXPECT_EQ(parse_integer("+-1"), std::nullopt);
}

TEST(NumberText, WritesTheShortestText) {
  EXPECT_EQ(number_text(0.1), "0.1");
  EXPECT_EQ(number_text(100000), "100000");
  EXPECT_EQ(number_text(-3), "-3");
  EXPECT_EQ(number_text(1e300), "1e+300");
  EXPECT_EQ(number_text(2.0 / 3), "0.6666666666666666");
}

RC_GTEST_PROP(NumberTextProperty, ReadsAnyDecimalAsStrtodDoes, (std::int64_t mantissa)) {
  const auto power = *rc::gen::inRange(-330, 310);
  const auto point = *rc::gen::inRange<std::size_t>(1, 20);
  auto text =
      std::to_string(*rc::gen::element(mantissa, mantissa % 1'000'000, mantissa % 10'000'000'000'000'000));
  if (point < text.size()) text.insert(point, ".");
  if (*rc::gen::arbitrary<bool>()) text += "e" + std::to_string(power);
  if (text.starts_with("-.")) text.insert(1, "0");
  const double wanted = std::strtod(text.c_str(), nullptr);
  double value = 0;
  const auto kind = parse_number(text, value);
  if (std::isinf(wanted)) {
    RC_ASSERT(kind == NumberKind::kNone);
  } else {
    RC_ASSERT(kind != NumberKind::kNone);
    RC_ASSERT(value == wanted);
  }
}

RC_GTEST_PROP(NumberTextProperty, ReadsBackWhatItWrites, (double number)) {
  double value = 0;
  RC_ASSERT(parse_number(number_text(number), value) != NumberKind::kNone);
  RC_ASSERT(value == number);
}

TEST(MissingValue, IsWhatPandasTakesForOne) {
  for (const auto* text : {"", "#N/A", "#N/A N/A", "#NA", "-1.#IND", "-1.#QNAN", "-NaN", "-nan", "1.#IND",
                           "1.#QNAN", "<NA>", "N/A", "NA", "NULL", "NaN", "n/a", "nan", "null"}) {
    EXPECT_TRUE(is_missing(text)) << text;
    EXPECT_EQ(read_cell(text).kind, CellKind::kMissing) << text;
  }
  for (const auto* text :
       {" ", "-", "?", "na", "Na", "NAN", "None", "none", "Null", "NA ", " NA", "#N/A N/", "<NA>x", "1.#INF"})
    EXPECT_FALSE(is_missing(text)) << text;
}

}  // namespace
}  // namespace gpupool::carry::csv
