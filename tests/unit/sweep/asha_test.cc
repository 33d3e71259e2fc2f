// SPDX-License-Identifier: Apache-2.0
#include "planning/sweep/asha.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

#include "tests/unit/sweep/sweeps.h"

namespace gpupool::planning {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using Values = std::map<std::int64_t, RungValues>;

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

api::SweepObjective minimize() { return *test::make_sweep().spec.objective; }

// The rule as it is written in asha.h, one trial at a time.
std::vector<std::int64_t> by_reference(const Values& values, const std::set<std::int64_t>& active,
                                       std::int64_t eta) {
  const auto worse_last = [](double value) { return std::isnan(value) ? HUGE_VAL : value; };
  std::vector<std::int64_t> stop;
  for (const auto trial : active) {
    const auto found = values.find(trial);
    if (found == values.end() || found->second.empty()) continue;
    const auto rung = found->second.size() - 1;
    std::int64_t all = 0;
    std::int64_t better = 0;
    for (const auto& [other, reached] : values) {
      if (reached.size() <= rung) continue;
      ++all;
      better += worse_last(reached[rung]) < worse_last(found->second[rung]) ? 1 : 0;
    }
    if (all >= eta && better >= all / eta) stop.push_back(trial);
  }
  return stop;
}

TEST(Asha, RungsAreBelowTheEnd) {
  EXPECT_THAT(rungs_of({1, 81, 3}), ElementsAre(1, 3, 9, 27));
  EXPECT_THAT(rungs_of({1, 82, 3}), ElementsAre(1, 3, 9, 27, 81));
  EXPECT_THAT(rungs_of({5, 6, 2}), ElementsAre(5));
  EXPECT_THAT(rungs_of({1'000'000'000, 2'147'483'647, 100}), ElementsAre(1'000'000'000));
  EXPECT_EQ(rungs_of({1, 2'147'483'647, 2}).size(), 31U);
}

TEST(Asha, StopsWhoIsNotAmongTheBest) {
  const Values values = {{0, {0.5}}, {1, {0.4}}, {2, {0.6}}};
  EXPECT_THAT(trials_to_stop(values, {0, 1, 2}, {1, 9, 3}, minimize()), ElementsAre(0, 2));
  EXPECT_THAT(trials_to_stop(values, {2}, {1, 9, 3}, minimize()), ElementsAre(2)) << "only those that run";
  EXPECT_THAT(trials_to_stop(values, {0, 1, 2}, {1, 9, 4}, minimize()), IsEmpty()) << "too few to compare";
  auto maximize = minimize();
  maximize.goal = api::sweep_goal::kMaximize;
  EXPECT_THAT(trials_to_stop(values, {0, 1, 2}, {1, 9, 3}, maximize), ElementsAre(0, 1));
}

TEST(Asha, EqualValuesAreEquallyGood) {
  const Values values = {{0, {0.5}}, {1, {0.5}}, {2, {0.5}}, {3, {0.6}}};
  EXPECT_THAT(trials_to_stop(values, {0, 1, 2, 3}, {1, 9, 3}, minimize()), ElementsAre(3));
}

TEST(Asha, WhatIsNotFiniteIsWorst) {
  EXPECT_THAT(trials_to_stop({{0, {kNaN}}, {1, {1e300}}, {2, {kNaN}}}, {0, 1, 2}, {1, 9, 3}, minimize()),
              ElementsAre(0, 2));
  EXPECT_THAT(trials_to_stop({{0, {kNaN}}, {1, {kNaN}}, {2, {kNaN}}}, {0, 1, 2}, {1, 9, 3}, minimize()),
              IsEmpty());
}

TEST(Asha, ATrialIsComparedAtItsLastRung) {
  // Trial 0 is the worst at the first rung and alone at the second.
  const Values values = {{0, {0.9, 0.1}}, {1, {0.5}}, {2, {0.4}}, {3, {0.3}}};
  EXPECT_THAT(trials_to_stop(values, {0, 1, 2, 3}, {1, 9, 3}, minimize()), ElementsAre(1, 2));
}

RC_GTEST_PROP(Asha, DecidesAsTheReference, ()) {
  const auto eta = *rc::gen::inRange<std::int64_t>(2, 6);
  const auto trials = *rc::gen::inRange<std::int64_t>(0, 40);
  Values values;
  std::set<std::int64_t> active;
  for (std::int64_t trial = 0; trial < trials; ++trial) {
    for (int i = *rc::gen::inRange(0, 4); i > 0; --i) {
      const auto value = *rc::gen::inRange(0, 12);
      values[trial].push_back(value == 11 ? kNaN : value);
    }
    if (*rc::gen::arbitrary<bool>()) active.insert(trial);
  }
  RC_ASSERT(trials_to_stop(values, active, {1, 1000, eta}, minimize()) == by_reference(values, active, eta));
}

// Trials with noise on their way to a final value, a number of them at a time: how much of the time of all
// trials is spent, and how good the best survivor is.
struct Outcome {
  double time = 0;
  std::size_t rank = 0;
};
Outcome simulate(unsigned seed) {
  constexpr std::int64_t kTrials = 300;
  constexpr std::int64_t kEnd = 81;
  constexpr std::size_t kAtOnce = 30;
  const api::SweepAsha asha{1, kEnd, 3};
  const auto rungs = rungs_of(asha);
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> quality(0, 1);
  std::normal_distribution<double> noise(0, 0.05);
  std::vector<double> finals;
  for (std::int64_t i = 0; i < kTrials; ++i) finals.push_back(quality(random));
  Values values;
  std::map<std::int64_t, std::int64_t> running;  // steps done
  std::int64_t next = 0;
  std::int64_t steps = 0;
  std::vector<double> ended;
  while (next < kTrials || !running.empty()) {
    while (next < kTrials && running.size() < kAtOnce) running[next++] = 0;
    std::set<std::int64_t> active;
    for (auto& [trial, step] : running) {
      ++step;
      ++steps;
      active.insert(trial);
      if (std::ranges::find(rungs, step) == rungs.end()) continue;
      values[trial].push_back(finals[static_cast<std::size_t>(trial)] + 1 / std::sqrt(step) +
                              noise(random) / std::sqrt(step));
    }
    for (const auto trial : trials_to_stop(values, active, asha, minimize())) running.erase(trial);
    for (const auto trial : active) {
      const auto found = running.find(trial);
      if (found == running.end() || found->second < kEnd) continue;
      ended.push_back(finals[static_cast<std::size_t>(trial)]);
      running.erase(found);
    }
  }
  const auto best = *std::ranges::min_element(ended);
  const auto better = std::ranges::count_if(finals, [best](double value) { return value < best; });
  return {static_cast<double>(steps) / (kTrials * kEnd), static_cast<std::size_t>(better)};
}

TEST(Asha, SavesMostOfTheTimeAndFindsOneOfTheBest) {
  for (unsigned seed = 0; seed < 10; ++seed) {
    const auto outcome = simulate(seed);
    EXPECT_LT(outcome.time, 0.15) << seed;
    EXPECT_LE(outcome.rank, 8U) << seed;
  }
}

}  // namespace
}  // namespace gpupool::planning
