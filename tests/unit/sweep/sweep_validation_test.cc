// SPDX-License-Identifier: Apache-2.0
#include "planning/sweep/sweep_validation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <optional>

#include "planning/sweep/trial_space.h"
#include "tests/unit/sweep/sweeps.h"

namespace gpupool::planning {
namespace {

using testing::HasSubstr;

struct BadSweep {
  const char* name;
  std::string words;  // in the message
  std::function<void(api::GpuSweep&)> spoil;
};

BadSweep with_parameters(const char* name, const std::string& words,
                         std::vector<api::SweepParameter> parameters) {
  return {name, words, [parameters](auto& sweep) { sweep.spec.parameters = parameters; }};
}

BadSweep with_random(const char* name, const std::string& words, const api::SweepParameter& parameter) {
  return {name, words, [parameter](auto& sweep) {
            sweep.spec.search.random = api::SweepRandom{5, 0};
            sweep.spec.parameters = {parameter};
          }};
}

BadSweep with_job(const char* name, const std::string& words, const std::string& job) {
  return {name, words, [job](auto& sweep) { sweep.spec.job.text = job; }};
}

BadSweep with_asha(const char* name, const std::string& words, std::optional<api::SweepAsha> asha) {
  return {name, words, [asha](auto& sweep) {
            sweep.spec.stopping.emplace();
            if (asha) sweep.spec.stopping->asha = *asha;
          }};
}

std::string job_with(const std::string& fields, const std::string& container = R"("command":["x"])") {
  return R"({"pool":"lab","template":{"spec":{"containers":[{"name":"train",)" + container + "}]}}" + fields +
         "}";
}

api::SweepParameter named(const std::string& name) { return test::with_values(name, {"1"}); }

std::vector<BadSweep> bad_sweeps() {
  auto two_kinds = test::with_values("a", {"1"});
  two_kinds.integers = api::SweepIntegers{1, 2};
  return {
      {"LongName", "metadata.name must have at most 40",
       [](auto& s) { s.metadata.name = std::string(41, 'a'); }},
      {"NameWithDot", "metadata.name must be a DNS label", [](auto& s) { s.metadata.name = "a.b"; }},
      with_parameters("NoParameter", "spec.parameters must not be empty", {}),
      with_parameters("TooMany", "at most 16", std::vector(17, named("a"))),
      with_parameters("BadName", "the name \"a-b\"", {named("a-b")}),
      with_parameters("EmptyName", "the name \"\"", {named("")}),
      with_parameters("NameTwice", "the name LR is used twice", {named("lr"), named("LR")}),
      with_parameters("NameOfTheIndex", "the name trial", {named("Trial")}),
      with_parameters("NoValues", "a needs exactly one of", {test::with_values("a", {})}),
      with_parameters("TwoKinds", "a needs exactly one of", {two_kinds}),
      with_parameters("ValueTwice", "a.values has a value twice", {test::with_values("a", {"1", "1"})}),
      with_parameters("TurnedIntegers", "a.integers: min must not be", {test::with_integers("a", 2, 1)}),
      with_parameters("HugeIntegers", "10^15", {test::with_integers("a", 1, kMaxInteger + 1)}),
      with_parameters("RangeInAGrid", "only for spec.search.random", {test::uniform("a", "0", "1")}),
      with_parameters("BillionPoints", "have 1000000000 combinations; at most 1000 trials are possible",
                      {test::with_integers("a", 1, 100'000), test::with_integers("b", 1, 10'000)}),
      with_parameters("OneTooMany", "have 1001 combinations", {test::with_integers("a", 0, 1000)}),
      with_random("NoNumber", "a.uniform: min and max must be numbers", test::uniform("a", "zero", "1")),
      with_random("NaN", "must be numbers", test::uniform("a", "nan", "1")),
      with_random("Infinite", "must be numbers", test::uniform("a", "0", "inf")),
      with_random("TurnedRange", "min must be less than max", test::uniform("a", "1", "1")),
      with_random("EndlessRange", "the range is too large", test::uniform("a", "-1.7e308", "1.7e308")),
      with_random("LogOfZero", "min must be greater than 0", test::log_uniform("a", "0", "1")),
      {"TwoSearches", "only one of grid, list and random",
       [](auto& s) {
         s.spec.search.grid.text = "{}";
         s.spec.search.list.text = "{}";
       }},
      {"NoTrials", "trials must be at least 1",
       [](auto& s) { s.spec.search.random = api::SweepRandom{0, 1}; }},
      {"TooManyTrials", "trials is 1001; at most 1000",
       [](auto& s) { s.spec.search.random = api::SweepRandom{1001, 1}; }},
      {"UnevenList", "a has 1, b has 2",
       [](auto& s) {
         s.spec.search.list.text = "{}";
         s.spec.parameters = {named("a"), test::with_values("b", {"1", "2"})};
       }},
      {"NotParallel", "spec.parallel", [](auto& s) { s.spec.parallel = 0; }},
      {"NegativeFailures", "spec.maxFailed", [](auto& s) { s.spec.max_failed = -1; }},
      {"NoMetric", "objective.metric", [](auto& s) { s.spec.objective->metric = ""; }},
      {"NoGoal", "objective.goal", [](auto& s) { s.spec.objective->goal = "Least"; }},
      {"UnknownTake", "objective.take", [](auto& s) { s.spec.objective->take = "First"; }},
      {"UnknownMissing", "objective.missing", [](auto& s) { s.spec.objective->missing = "Ask"; }},
      {"NoTarget", "objective.target", [](auto& s) { s.spec.objective->target = "NaN"; }},
      {"UnknownKeep", "spec.keepJobs must be", [](auto& s) { s.spec.keep_jobs = "Some"; }},
      {"BestOfNothing", "spec.keepJobs Best needs spec.objective",
       [](auto& s) {
         s.spec.keep_jobs = api::keep_jobs::kBest;
         s.spec.objective.reset();
       }},
      with_asha("StoppingWithoutARule", "spec.stopping.asha must be set", std::nullopt),
      {"StoppingWithoutObjective", "spec.stopping needs spec.objective",
       [](auto& s) {
         s.spec.stopping.emplace();
         s.spec.stopping->asha = api::SweepAsha{1, 9, 3};
         s.spec.objective.reset();
       }},
      with_asha("NoEta", "eta must be from 2 to 100", api::SweepAsha{1, 9, 1}),
      with_asha("NoFirstRung", "min must be at least 1", api::SweepAsha{0, 9, 3}),
      with_asha("NoRung", "max must be greater than min", api::SweepAsha{9, 9, 3}),
      with_asha("TooManyRungs", "has 17 rungs; at most 16", api::SweepAsha{1, 1 << 17, 2}),
      {"OwnLiveSteps", "spec.stopping of the GpuSweep sets it",
       [](auto& s) {
         s.spec.stopping.emplace();
         s.spec.stopping->asha = api::SweepAsha{1, 9, 3};
         s.spec.job.text = job_with(R"(,"metrics":{"names":["a"],"liveSteps":[1]})");
       }},
      with_job("LiveStepsNotAscending", "spec.job.metrics.liveSteps must be ascending",
               job_with(R"(,"metrics":{"names":["a"],"liveSteps":[2,2]})")),
      with_job("NoJob", "spec.job must be set", ""),
      with_job("DeepJob", "nested deeper", base::json::kTooDeep),
      with_job("TextAsJob", "spec.job.", "7"),
      with_job("UnknownField", "spec.job.gpuss: unknown field", job_with(R"(,"gpuss":4)")),
      with_job("TextAsGpus", "spec.job.", job_with(R"(,"gpus":"four")")),
      with_job("Suspended", "use spec.suspend", job_with(R"(,"suspend":true)")),
      with_job("Ttl", "use spec.keepJobs", job_with(R"(,"ttlSecondsAfterFinished":5)")),
      with_job("NoGpus", "spec.job.gpus must be at least 1", job_with(R"(,"gpus":0)")),
      with_job("NoCommand", "spec.job.template.spec.containers[0].command", job_with("", R"("image":"i")")),
      with_job("UnknownReference", "$(rate) is neither", job_with("", R"x("command":["$(rate)"])x")),
      with_job("VariableOfGpupool", "GPUPOOL_X is set by gpupool",
               job_with("", R"("command":["x"],"env":[{"name":"GPUPOOL_X"}])")),
      with_job(
          "TooManyMetrics", "spec.job.metrics.names must have at most 16",
          job_with(
              R"(,"metrics":{"names":["a","b","c","d","e","f","g","h","i","j","k","l","m","n","o","p"]})")),
  };
}

class BadSweepTest : public testing::TestWithParam<BadSweep> {};

TEST_P(BadSweepTest, IsRefusedByName) {
  auto sweep = test::make_sweep();
  ASSERT_FALSE(validate_sweep(sweep, nullptr, {})) << "else it would be refused for another reason";
  GetParam().spoil(sweep);
  const auto problem = validate_sweep(sweep, nullptr, {});
  ASSERT_TRUE(problem);
  EXPECT_THAT(problem->message, HasSubstr(GetParam().words));
}

INSTANTIATE_TEST_SUITE_P(Sweeps, BadSweepTest, testing::ValuesIn(bad_sweeps()),
                         [](const auto& tested) { return std::string(tested.param.name); });

TEST(SweepValidation, AcceptsBounds) {
  auto sweep = test::make_sweep(1000);
  sweep.metadata.name = std::string(40, 'a');
  EXPECT_FALSE(validate_sweep(sweep, nullptr, {}));
  sweep.spec.search.list.text = "{}";
  sweep.spec.parameters = {test::with_values("lr", {"1", "1"})};
  EXPECT_FALSE(validate_sweep(sweep, nullptr, {})) << "a list may have a value twice";
  sweep.spec.search.list.text = "";
  sweep.spec.search.random = api::SweepRandom{1000, -5};
  sweep.spec.parameters = {test::with_integers("lr", 1, 1'000'000'000),
                           test::log_uniform("b", "1e-300", "1e300")};
  EXPECT_FALSE(validate_sweep(sweep, nullptr, {}));
}

TEST(SweepValidation, KnowsThePool) {
  auto sweep = test::make_sweep();
  sweep.spec.job.text = job_with(R"(,"slice":{"count":1})");
  api::GpuPool pool;
  const auto problem = validate_sweep(sweep, &pool, {});
  ASSERT_TRUE(problem);
  EXPECT_EQ(problem->reason, "SliceInExclusivePool");
  EXPECT_THAT(problem->message, HasSubstr("spec.job.slice"));
}

}  // namespace
}  // namespace gpupool::planning
