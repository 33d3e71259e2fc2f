// SPDX-License-Identifier: Apache-2.0
#include "planning/sweep/trial_job.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/unit/sweep/sweeps.h"

namespace gpupool::planning {
namespace {

using Json = nlohmann::json;
using testing::HasSubstr;

class TrialJobTest : public testing::Test {
 protected:
  Json job(const TrialParameters& parameters = {{"lr", "0.1"}}, std::int64_t trial = 3) const {
    return Json::parse(trial_job(sweep_, trial, parameters));
  }
  Json container(const TrialParameters& parameters = {{"lr", "0.1"}}) const {
    return job(parameters)["spec"]["template"]["spec"]["containers"][0];
  }
  void use_container(const std::string& fields) {
    sweep_.spec.job.text =
        R"({"pool":"lab","template":{"spec":{"containers":[{"name":"train",)" + fields + "}]}}}";
  }
  std::string problem() const {
    const auto found = check_references(sweep_.spec);
    return found ? found->message : "";
  }

  api::GpuSweep sweep_ = test::make_sweep();
};

TEST_F(TrialJobTest, BelongsToTheSweep) {
  const auto metadata = job()["metadata"];
  EXPECT_EQ(metadata["name"], "tune-3");
  EXPECT_EQ(metadata["namespace"], "ns");
  EXPECT_EQ(metadata["labels"], (Json{{"gpupool.dev/sweep", "tune"}, {"gpupool.dev/trial", "3"}}));
  EXPECT_EQ(metadata["ownerReferences"], Json::array({{{"apiVersion", "gpupool.dev/v1alpha1"},
                                                       {"kind", "GpuSweep"},
                                                       {"name", "tune"},
                                                       {"uid", "uid-tune"},
                                                       {"controller", true},
                                                       {"blockOwnerDeletion", true}}}));
}

TEST_F(TrialJobTest, ParametersAreFilledInInSourceAndResults) {
  sweep_.spec.job.text = R"x({"pool":"lab","template":{"spec":{"containers":[{"name":"train"}]}},
    "source":{"items":[{"path":"$(lr)/a","s3":{"bucket":"abc","key":"sets/$(lr).csv"}}]},
    "results":[{"from":"/gpupool/work/out","to":{"s3":{"bucket":"abc","prefix":"$(lr)/$(job)/$(trial)/$(rank)"}}}]})x";
  EXPECT_EQ(problem(), "");
  const auto spec = job({{"lr", "$1"}})["spec"];
  EXPECT_EQ(spec["source"]["items"][0]["path"], "$1/a");
  EXPECT_EQ(spec["source"]["items"][0]["s3"]["key"], "sets/$1.csv") << "no kubelet expands it";
  EXPECT_EQ(spec["results"][0]["to"]["s3"]["prefix"], "$1/$(job)/3/$(rank)")
      << "gpupool-carry replaces the others";
  sweep_.spec.job.text.replace(sweep_.spec.job.text.find("sets/$(lr)"), 10, "sets/$(xy)");
  EXPECT_THAT(problem(), HasSubstr("spec.job.source: $(xy) is not a parameter"));
}

TEST_F(TrialJobTest, IsRecognizedByItsController) {
  auto one = test::make_trial(sweep_, 3);
  EXPECT_EQ(trial_of(one, sweep_), 3);
  EXPECT_FALSE(is_of_earlier_sweep(one, sweep_));
  for (const auto* name : {"tune-", "tune-03", "tune-3x", "tune", "tune--3", "other-3"}) {
    auto other = one;
    other.metadata.name = name;
    EXPECT_FALSE(trial_of(other, sweep_)) << name;
  }
  one.metadata.owner_references[0].uid = "uid-before";
  EXPECT_FALSE(trial_of(one, sweep_));
  EXPECT_TRUE(is_of_earlier_sweep(one, sweep_));
  one.metadata.owner_references.clear();
  EXPECT_FALSE(is_of_earlier_sweep(one, sweep_));
}

TEST_F(TrialJobTest, ReplacesReferencesAndKeepsArguments) {
  use_container(R"x("command":["sh","-c","train $(lr)"],"args":["$(lr)","$(trial)","$$(lr)","$(HOME)"],)x"
                R"x("env":[{"name":"HOME","value":"/h/$(lr)"},{"name":"S","valueFrom":{"x":"$(lr)"}}])x");
  const auto filled = container({{"lr", "a b; rm -rf /"}});
  EXPECT_EQ(filled["command"], (Json{"sh", "-c", "train a b; rm -rf /"}));
  EXPECT_EQ(filled["args"], (Json{"a b; rm -rf /", "3", "$$(lr)", "$(HOME)"})) << "still four arguments";
  EXPECT_EQ(filled["env"][2]["value"], "/h/a b; rm -rf /");
  EXPECT_EQ(filled["env"][3]["valueFrom"]["x"], "$(lr)") << "only values";
}

TEST_F(TrialJobTest, SetsVariablesInEveryContainer) {
  sweep_.spec.job.text =
      R"({"pool":"lab","template":{"spec":{"containers":[{"name":"a","command":["x"]},{"name":"b"}],)"
      R"x("initContainers":[{"name":"c","args":["$(lr)"]}]}}})x";
  const auto spec = job({{"lr", "$5"}, {"Batch_2", "8"}})["spec"]["template"]["spec"];
  for (const auto& one : {spec["containers"][0], spec["containers"][1], spec["initContainers"][0]}) {
    EXPECT_EQ(one["env"], (Json::array({{{"name", "GPUPOOL_TRIAL"}, {"value", "3"}},
                                        {{"name", "GPUPOOL_PARAM_BATCH_2"}, {"value", "8"}},
                                        {{"name", "GPUPOOL_PARAM_LR"}, {"value", "$$5"}}})));
  }
  EXPECT_EQ(spec["initContainers"][0]["args"], (Json{"$$5"}));
}

TEST_F(TrialJobTest, AsksForTheMetricOfTheObjective) {
  EXPECT_EQ(job()["spec"]["metrics"], (Json{{"names", {"val/loss"}}}));
  sweep_.spec.job.text = R"({"metrics":{"names":["acc"],"stepName":"epoch"}})";
  EXPECT_EQ(job()["spec"]["metrics"], (Json{{"names", {"acc", "val/loss"}}, {"stepName", "epoch"}}));
  sweep_.spec.job.text = R"({"metrics":{"names":["val/loss"]}})";
  EXPECT_EQ(job()["spec"]["metrics"], (Json{{"names", {"val/loss"}}}));
  sweep_.spec.objective.reset();
  sweep_.spec.job.text = "{}";
  EXPECT_FALSE(job()["spec"].contains("metrics"));
}

TEST_F(TrialJobTest, UnknownReferencesAreNamed) {
  use_container(R"x("command":["train","$(lr)","$(trial)","$(GPUPOOL_PARAM_LR)","$(GPUPOOL_JOB)","$$(x)"])x");
  EXPECT_EQ(problem(), "");
  use_container(R"x("command":["train","--rate=$(rate)"])x");
  EXPECT_THAT(problem(), HasSubstr("spec.job.template: $(rate) is neither a parameter nor a variable"));
  use_container(R"x("command":["sh","-c","echo $(date)"])x");
  EXPECT_THAT(problem(), HasSubstr("write $$(date) for the text itself"));
  use_container(R"x("command":["sh","-c","echo $(ls -l)"])x");
  EXPECT_EQ(problem(), "") << "no name, so no reference";
  use_container(R"x("args":["$(X)"],"env":[{"name":"X","value":"1"},{"name":"Y","value":"$(Z)"}])x");
  EXPECT_THAT(problem(), HasSubstr("$(Z)"));
  use_container(R"x("args":["$(X)"],"envFrom":[{"configMapRef":{"name":"m"}}])x");
  EXPECT_EQ(problem(), "") << "it may come from there";
}

TEST_F(TrialJobTest, VariablesOfTrialsBelongToGpupool) {
  for (const auto* name : {"GPUPOOL_TRIAL", "GPUPOOL_PARAM_X"}) {
    use_container(std::string(R"("env":[{"name":")") + name + R"(","value":"1"}])");
    EXPECT_THAT(problem(), HasSubstr(std::string(name) + " is set by gpupool"));
  }
}

TEST_F(TrialJobTest, UnknownFieldsOfTheJobAreNamed) {
  EXPECT_EQ(unknown_job_field(sweep_.spec), "");
  sweep_.spec.job.text = R"({"pool":"lab","gpuss":4})";
  EXPECT_EQ(unknown_job_field(sweep_.spec), "gpuss");
}

}  // namespace
}  // namespace gpupool::planning
