// SPDX-License-Identifier: Apache-2.0
#include "csv/order_statistics.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <limits>

namespace gpupool::carry::csv {
namespace {

using SeriesList = std::vector<std::vector<double>>;

void read_all(OrderStatistics& statistics, const SeriesList& series) {
  std::size_t longest = 0;
  for (const auto& one : series) longest = std::max(longest, one.size());
  for (std::size_t row = 0; row < longest; ++row)
    for (std::size_t i = 0; i < series.size(); ++i)
      if (row < series[i].size()) statistics.add(i, series[i][row]);
}

// Returns how often the series were read.
int find_ranks(OrderStatistics& statistics, const SeriesList& series,
               const std::vector<std::vector<std::int64_t>>& ranks) {
  read_all(statistics, series);
  for (std::size_t i = 0; i < series.size(); ++i) statistics.want(i, ranks[i]);
  int readings = 1;
  for (; statistics.settle(); ++readings) read_all(statistics, series);
  return readings;
}

RC_GTEST_PROP(OrderStatistics, AreThoseOfTheSortedSeries, ()) {
  const auto memory = *rc::gen::element<std::size_t>(8, 64, 400, 1'000'000);
  const auto anything = rc::gen::oneOf(
      rc::gen::arbitrary<double>(), rc::gen::map(rc::gen::inRange(-5, 5), [](int n) { return n * 0.5; }),
      rc::gen::just(std::numeric_limits<double>::infinity()), rc::gen::just(-1e308));
  const auto series =
      *rc::gen::container<SeriesList>(*rc::gen::inRange<std::size_t>(1, 5),
                                      rc::gen::nonEmpty(rc::gen::container<std::vector<double>>(anything)));
  std::vector<std::vector<std::int64_t>> ranks;
  for (const auto& one : series)
    ranks.push_back(*rc::gen::container<std::vector<std::int64_t>>(
        rc::gen::inRange<std::int64_t>(0, static_cast<std::int64_t>(one.size()))));
  OrderStatistics statistics(series.size(), memory);
  find_ranks(statistics, series, ranks);
  for (std::size_t i = 0; i < series.size(); ++i) {
    auto sorted = series[i];
    std::sort(sorted.begin(), sorted.end());
    for (const auto rank : ranks[i])
      RC_ASSERT(statistics.at(i, rank) == sorted[static_cast<std::size_t>(rank)]);
  }
}

TEST(OrderStatistics, ReadsAgainOnlyIfMemoryIsShort) {
  SeriesList series(1);
  for (int i = 0; i < 1000; ++i) series[0].push_back((i * 7919 % 1000) * 0.25);
  OrderStatistics roomy(1, 16000);
  EXPECT_EQ(find_ranks(roomy, series, {{0, 499, 999}}), 1);
  OrderStatistics narrow(1, 800);
  EXPECT_GT(find_ranks(narrow, series, {{0, 499, 999}}), 1);
  EXPECT_EQ(narrow.at(0, 499), 499 * 0.25);
}

TEST(OrderStatistics, ForgetsASeries) {
  OrderStatistics statistics(2, 800);
  for (int i = 0; i < 60; ++i) statistics.add(0, i);
  statistics.forget(0);
  for (int i = 0; i < 60; ++i) {
    statistics.add(0, i);
    statistics.add(1, i);
  }
  statistics.want(1, {40});
  ASSERT_FALSE(statistics.settle());
  EXPECT_EQ(statistics.at(1, 40), 40);
}

}  // namespace
}  // namespace gpupool::carry::csv
