// SPDX-License-Identifier: Apache-2.0
#include "csv/mode_counts.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <map>

namespace gpupool::carry::csv {
namespace {

using Values = std::vector<std::string>;

std::int64_t find_modes(ModeCounts& modes, const std::vector<Values>& columns,
                        const std::vector<ColumnType>& types) {
  for (std::int64_t readings = 1;; ++readings) {
    for (std::size_t i = 0; i < columns.size(); ++i)
      for (const auto& value : columns[i]) modes.add(i, value);
    if (!modes.settle(types)) return readings;
  }
}

std::string mode_of_texts(const Values& values) {
  std::map<std::string, int> counts;
  for (const auto& value : values) ++counts[value];
  return std::max_element(counts.begin(), counts.end(),
                          [](const auto& a, const auto& b) { return a.second < b.second; })
      ->first;
}

double mode_of_numbers(const Values& values) {
  std::map<double, int> counts;
  for (const auto& value : values) ++counts[std::stod(value)];
  return std::max_element(counts.begin(), counts.end(),
                          [](const auto& a, const auto& b) { return a.second < b.second; })
      ->first;
}

RC_GTEST_PROP(ModeCounts, AreThoseOfAMap, ()) {
  const auto memory = *rc::gen::element<std::size_t>(600, 1500, 100'000);
  const auto text =
      rc::gen::map(rc::gen::inRange(0, 40), [](int n) { return "v" + std::to_string(n * n % 37); });
  const auto number = rc::gen::map(
      rc::gen::pair(rc::gen::inRange(-9, 9), rc::gen::element<std::string>("", ".0", ".00", "e0", ".5")),
      [](const auto& parts) { return std::to_string(parts.first) + parts.second; });
  const auto texts = *rc::gen::nonEmpty(rc::gen::container<Values>(text));
  const auto numbers = *rc::gen::nonEmpty(rc::gen::container<Values>(number));
  ModeCounts modes(2, memory);
  find_modes(modes, {texts, numbers}, {ColumnType::kText, ColumnType::kNumber});
  if (!modes.gave_up(0)) RC_ASSERT(modes.mode(0) == mode_of_texts(texts));
  if (!modes.gave_up(1)) RC_ASSERT(std::stod(modes.mode(1)) == mode_of_numbers(numbers));
}

TEST(ModeCounts, PartsWhatDoesNotFit) {
  Values values;
  for (int i = 0; i < 300; ++i) values.push_back("v" + std::to_string(i));
  values.push_back("v77");
  ModeCounts modes(1, 3000);
  EXPECT_GT(find_modes(modes, {values}, {ColumnType::kText}), 4);
  EXPECT_FALSE(modes.gave_up(0));
  EXPECT_EQ(modes.mode(0), "v77");
}

TEST(ModeCounts, GivesUpWhatWouldTakeTooLong) {
  Values values;
  for (int i = 0; i < 3000; ++i) values.push_back("v" + std::to_string(i));
  ModeCounts modes(2, 3000);
  find_modes(modes, {values, {"a", "b", "b"}}, {ColumnType::kText, ColumnType::kText});
  EXPECT_TRUE(modes.gave_up(0));
  EXPECT_EQ(modes.mode(1), "b");
}

TEST(ModeCounts, LargeIntegersDiffer) {
  ModeCounts modes(1, 100'000);
  find_modes(modes, {{"9007199254740992", "9007199254740993", "9007199254740993"}}, {ColumnType::kInteger});
  EXPECT_EQ(modes.mode(0), "9007199254740993");
}

TEST(ModeCounts, OneValueMayHaveSeveralTexts) {
  ModeCounts modes(1, 100'000);
  find_modes(modes, {{"2", "2", "1", "1.0", "1.00"}}, {ColumnType::kNumber});
  EXPECT_EQ(std::stod(modes.mode(0)), 1);
  ModeCounts texts(1, 100'000);
  find_modes(texts, {{"2", "2", "1", "1.0", "1.00"}}, {ColumnType::kText});
  EXPECT_EQ(texts.mode(0), "2");
}

}  // namespace
}  // namespace gpupool::carry::csv
