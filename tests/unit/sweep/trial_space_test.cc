// SPDX-License-Identifier: Apache-2.0
#include "planning/sweep/trial_space.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <fstream>
#include <limits>
#include <set>
#include <sstream>

#include "tests/unit/sweep/sweeps.h"

namespace gpupool::planning {
namespace {

using testing::ElementsAre;
using testing::Pair;
using Parameters = std::vector<api::SweepParameter>;

api::GpuSweepSpec grid(Parameters parameters) {
  api::GpuSweepSpec spec;
  spec.parameters = std::move(parameters);
  return spec;
}

api::GpuSweepSpec random(Parameters parameters, std::int64_t trials, std::int64_t seed = 7) {
  auto spec = grid(std::move(parameters));
  spec.search.random = api::SweepRandom{trials, seed};
  return spec;
}

std::string line(const TrialParameters& parameters) {
  std::string text;
  for (const auto& [name, value] : parameters) text += (text.empty() ? "" : " ") + name + "=" + value;
  return text;
}

std::vector<std::string> lines(const api::GpuSweepSpec& spec) {
  const TrialSpace space(spec);
  std::vector<std::string> all;
  for (std::int64_t i = 0; i < space.size(); ++i) all.push_back(line(space.parameters(i)));
  return all;
}

TEST(TrialSpace, InAGridTheLastParameterChangesFastest) {
  const auto spec = grid({test::with_values("a", {"x", "y"}), test::with_integers("b", 1, 3)});
  EXPECT_THAT(lines(spec), ElementsAre("a=x b=1", "a=x b=2", "a=x b=3", "a=y b=1", "a=y b=2", "a=y b=3"));
}

RC_GTEST_PROP(TrialSpaceProperty, AGridIsABijection, ()) {
  const auto sizes =
      *rc::gen::container<std::vector<int>>(*rc::gen::inRange<std::size_t>(1, 5), rc::gen::inRange(1, 5));
  Parameters parameters;
  std::size_t combinations = 1;
  for (const int size : sizes) {
    combinations *= static_cast<std::size_t>(size);
    parameters.push_back(test::with_integers("p" + std::to_string(parameters.size()), 0, size - 1));
  }
  const auto all = lines(grid(parameters));
  RC_ASSERT(all.size() == combinations);
  RC_ASSERT(std::set<std::string>(all.begin(), all.end()).size() == combinations);
  RC_ASSERT(combination_count(grid(parameters)) == static_cast<std::int64_t>(combinations));
}

TEST(TrialSpace, AListGoesThroughAllParametersTogether) {
  auto spec = grid({test::with_values("a", {"x", "x", "z"}), test::with_values("b", {"1", "2", "3"})});
  spec.search.list.text = "{}";
  EXPECT_THAT(lines(spec), ElementsAre("a=x b=1", "a=x b=2", "a=z b=3"));
}

TEST(TrialSpace, CountsWithoutOverflow) {
  constexpr auto kMost = std::numeric_limits<std::int64_t>::max();
  EXPECT_EQ(
      combination_count(grid({test::with_integers("a", 1, 100'000), test::with_integers("b", 1, 10'000)})),
      1'000'000'000);
  EXPECT_EQ(combination_count(grid(Parameters(16, test::with_integers("a", -kMaxInteger, kMaxInteger)))),
            kMost);
  EXPECT_EQ(combination_count(random({test::uniform("a", "0", "1"), test::with_integers("b", 1, 2)}, 5)),
            kMost);
}

Parameters mixed() {
  return {test::log_uniform("lr", "1e-5", "1e-1"), test::uniform("dropout", "0", "0.5"),
          test::with_integers("layers", 1, 12), test::with_values("batch", {"32", "64", "128"})};
}

TEST(TrialSpace, RandomTrialsDoNotChange) {
  std::ifstream file(GOLDEN_FOLDER "/random_trials.txt");
  std::stringstream golden;
  golden << file.rdbuf();
  std::string now;
  for (const std::int64_t seed : {0, 7, -1}) {
    for (const auto& text : lines(random(mixed(), 20, seed)))
      now += std::to_string(seed) + ": " + text + "\n";
  }
  EXPECT_EQ(now, golden.str()) << "trials of running sweeps would change";
}

TEST(TrialSpace, MoreTrialsBeginWithTheSameOnes) {
  const auto few = lines(random(mixed(), 20));
  const auto many = lines(random(mixed(), 40));
  EXPECT_TRUE(std::equal(few.begin(), few.end(), many.begin()));
}

TEST(TrialSpace, OrderOfParametersDoesNotMatter) {
  auto turned = mixed();
  std::swap(turned[0], turned[3]);
  EXPECT_EQ(lines(random(mixed(), 20)), lines(random(turned, 20)));
}

RC_GTEST_PROP(TrialSpaceProperty, RandomTrialsDiffer, ()) {
  const auto a = *rc::gen::inRange(1, 20);
  const auto b = *rc::gen::inRange(1, 20);
  const auto trials = *rc::gen::inRange(1, 400);
  const auto seed = *rc::gen::arbitrary<std::int64_t>();
  const auto spec = random({test::with_integers("a", 1, a), test::with_integers("b", 1, b)}, trials, seed);
  const TrialSpace space(spec);
  const auto all = lines(spec);
  RC_ASSERT(space.size() == std::min(trials, a * b));
  RC_ASSERT(space.is_exhausted() == (a * b < trials));
  RC_ASSERT(std::set<std::string>(all.begin(), all.end()).size() == all.size());
}

TEST(TrialSpace, EveryCombinationIsEquallyLikelyToBeDrawn) {
  std::map<std::string, int> counts;
  for (std::int64_t seed = 0; seed < 3'000; ++seed) {
    for (const auto& text : lines(random({test::with_integers("a", 1, 10)}, 4, seed))) ++counts[text];
  }
  ASSERT_EQ(counts.size(), 10U);
  for (const auto& [text, count] : counts) EXPECT_NEAR(count, 1'200, 120) << text;  // 4.5 standard deviations
}

TEST(TrialSpace, ASpaceOfTwoFloatsEnds) {
  const auto spec = random({test::uniform("a", "1", "1.0000000000000002")}, 5);
  const TrialSpace space(spec);
  EXPECT_LE(space.size(), 2);
  EXPECT_TRUE(space.is_exhausted());
}

TEST(TrialSpace, GivesParametersByName) {
  const TrialSpace space(grid({test::with_values("a", {"x"}), test::with_values("b", {"y"})}));
  EXPECT_THAT(space.parameters(0), ElementsAre(Pair("a", "x"), Pair("b", "y")));
}

}  // namespace
}  // namespace gpupool::planning
