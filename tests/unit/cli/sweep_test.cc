// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/v1alpha1/gpu_sweep.h"
#include "base/json.h"
#include "sweeps/commands.h"
#include "tests/unit/cli/played_server.h"

namespace gpupool {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::StartsWith;

constexpr char kSpec[] = R"J({"parameters":[{"name":"lr","values":["0.1","0.01","0.001"]},
{"name":"batch","values":["32","64"]}],"objective":{"metric":"loss","goal":"Minimize"},
"job":{"pool":"p","template":{"spec":{"containers":[{"name":"c","image":"i","command":["t","$(lr)","$(batch)"]}]}}}})J";

// Trial 3 has no job any more, trial 4 runs, trial 5 has not begun.
constexpr char kStatus[] =
    R"({"phase":"Running","reason":"TrialsRunning","message":"1 of 6 trials runs","specHash":"HASH",
"startTime":"2026-01-02T02:03:40Z","counts":{"total":6,"created":5,"active":1,"succeeded":3,"failed":1},
"best":{"trial":2,"job":"s-2","value":"0.25","parameters":{"lr":"0.01","batch":"32"}},
"top":[{"trial":2,"job":"s-2","value":"0.25","parameters":{"lr":"0.01","batch":"32"}},
{"trial":3,"job":"s-3","value":"0.5","parameters":{"lr":"0.01","batch":"64"}},
{"trial":0,"job":"s-0","value":"1.5","parameters":{"lr":"0.1","batch":"32"}}],
"results":["0 S 1.5","1 F","2 S 0.25","3 S 0.5"],
"failures":[{"trial":1,"reason":"BackoffLimitExceeded","message":"rank 0 exited with\u001b[2J code 1"}]})";

std::string job(int trial, const std::string& status) {
  return R"({"metadata":{"name":"s-)" + std::to_string(trial) +
         R"(","ownerReferences":[{"kind":"GpuSweep","name":"s","uid":"u","controller":true}]},"status":)" +
         status + "}";
}

std::string jobs() {
  return R"({"metadata":{"resourceVersion":"1"},"items":[)" +
         job(0, R"({"phase":"Succeeded","metrics":{"values":[{"name":"acc,\"top 1\"","last":"0.5"},
{"name":"loss","last":"1.6","least":"1.5","greatest":"2"}]}})") +
         "," + job(1, R"({"phase":"Failed","reason":"BackoffLimitExceeded"})") + "," +
         job(2, R"({"phase":"Succeeded","metrics":{"values":[{"name":"acc,\"top 1\"","last":"0.75"}]}})") +
         "," + job(4, R"({"phase":"Running"})") + "]}";
}

std::string sweep(std::string spec = kSpec, std::string status = kStatus) {
  const auto read = base::json::read<api::GpuSweepSpec>(spec);
  if (const auto at = status.find("HASH"); at != std::string::npos) status.replace(at, 4, spec_hash(*read));
  return R"({"metadata":{"name":"s","namespace":"lab","uid":"u"},"spec":)" + spec + R"(,"status":)" + status +
         "}";
}

test::PlayedServer server(std::string object = sweep(), bool lists_jobs = true) {
  return test::PlayedServer([object = std::move(object), lists_jobs](const net::HttpRequest& request) {
    if (request.target.ends_with("/gpusweeps/s")) return test::answer(200, object);
    if (request.target.find("/gpujobs?") == std::string::npos)
      return test::refusal(404, "NotFound", "gpusweeps \"other\" not found");
    return lists_jobs ? test::answer(200, jobs()) : test::refusal(403, "Forbidden", "no");
  });
}

test::Ran run(const std::string& line, test::PlayedServer played = server(), const test::Place& place = {}) {
  return test::run_command(sweeps::make_sweep(), line, &played, place);
}

TEST(Sweep, Screens) {
  for (const std::size_t columns : {80U, 200U}) {
    const test::Place place{.terminal = test::terminal_with(columns, columns == 200)};
    const auto size = std::to_string(columns);
    test::expect_screen("sweep-show-" + size, run("sweep show s", server(), place).out);
    test::expect_screen("sweep-trials-" + size, run("sweep trials s", server(), place).out);
    test::expect_screen("sweep-trial-" + size, run("sweep show s 2", server(), place).out);
  }
}

TEST(Sweep, AsksTwice) {
  auto played = server();
  EXPECT_EQ(test::run_command(sweeps::make_sweep(), "sweep trials gsweep/s", &played).code, 0);
  EXPECT_THAT(played.calls(), ElementsAre("GET /apis/gpupool.dev/v1alpha1/namespaces/lab/gpusweeps/s",
                                          "GET /apis/gpupool.dev/v1alpha1/namespaces/lab/gpujobs?"
                                          "labelSelector=gpupool.dev%2Fsweep%3Ds&resourceVersion=0"));
}

TEST(Sweep, ATrialHasItsParametersBeforeItBegins) {
  const auto ran = run("sweep show s 5");
  EXPECT_EQ(ran.code, 0);
  EXPECT_THAT(ran.out, HasSubstr("Waiting"));
  EXPECT_THAT(ran.out, HasSubstr("batch=64\n             lr=0.001"));
}

TEST(Sweep, TheBestTrial) {
  EXPECT_THAT(run("sweep best s").out, HasSubstr("Value:       0.25"));
  EXPECT_EQ(run("sweep best s -o name").out, "gpujob.gpupool.dev/s-2\n");
  const auto json = run("sweep best s -o json").out;
  EXPECT_THAT(json, HasSubstr(R"("kind": "SweepTrial")"));
  EXPECT_THAT(json, HasSubstr(R"("lr": "0.01")"));
}

TEST(Sweep, ThereMayBeNoBestTrial) {
  const auto none = run("sweep best s", server(sweep(kSpec, R"({"phase":"Running","counts":{"total":6}})")));
  EXPECT_EQ(none.code, 1);
  EXPECT_THAT(none.err, HasSubstr("has a value yet"));
  auto spec = std::string(kSpec);
  const std::string objective = R"("objective":{"metric":"loss","goal":"Minimize"},)";
  spec.erase(spec.find(objective), objective.size());
  const auto unasked = run("sweep best s", server(sweep(spec)));
  EXPECT_EQ(unasked.code, 1);
  EXPECT_THAT(unasked.err, HasSubstr("no spec.objective"));
}

TEST(Sweep, TrialsForASpreadsheet) {
  EXPECT_EQ(run("sweep trials s -o csv").out,
            "TRIAL,STATE,loss,lr,batch,\"acc,\"\"top 1\"\"\",REASON\r\n"
            "0,Succeeded,1.5,0.1,32,0.5,\r\n"
            "1,Failed,,0.1,64,,BackoffLimitExceeded\r\n"
            "2,Succeeded,0.25,0.01,32,0.75,\r\n"
            "3,Succeeded,0.5,0.01,64,,\r\n"
            "4,Running,,0.001,32,,\r\n"
            "5,Waiting,,0.001,64,,\r\n");
}

TEST(Sweep, TrialsBestFirst) {
  EXPECT_EQ(run("sweep trials s --sort value -o name").out,
            "gpujob.gpupool.dev/s-2\ngpujob.gpupool.dev/s-3\ngpujob.gpupool.dev/s-0\n"
            "gpujob.gpupool.dev/s-1\ngpujob.gpupool.dev/s-4\ngpujob.gpupool.dev/s-5\n");
}

TEST(Sweep, TrialsThatWereStoppedEarly) {
  std::string spec = kSpec;
  spec.insert(1, R"("stopping":{"asha":{"min":1,"max":9,"eta":3}},)");
  std::string status = kStatus;
  const std::string results = R"("1 F","2 S 0.25")";
  status.replace(status.find(results), results.size(), R"("1 X 0.1 0.3,0.1","2 S 0.25 NaN")");
  EXPECT_THAT(run("sweep show s", server(sweep(spec, status))).out,
              HasSubstr("at steps 1, 3 the best 1/3 go on"));
  const auto stopped = run("sweep show s 1", server(sweep(spec, status))).out;
  EXPECT_THAT(stopped, HasSubstr("Stopped"));
  EXPECT_THAT(stopped, HasSubstr("0.3 at 1, 0.1 at 3"));
  EXPECT_THAT(run("sweep show s 2", server(sweep(spec, status))).out, HasSubstr("NaN at 1\n"));
  const auto json = run("sweep trials s -o json", server(sweep(spec, status))).out;
  EXPECT_THAT(json, testing::ContainsRegex("\"rungs\": \\[[ \n]*\"0.3\",[ \n]*\"0.1\"[ \n]*\\]"));
}

TEST(Sweep, WithoutTheRightToListJobs) {
  const auto ran = run("sweep trials s", server(sweep(), false));
  EXPECT_EQ(ran.code, 0);
  EXPECT_THAT(ran.err, HasSubstr("may not list jobs"));
  EXPECT_THAT(ran.out, HasSubstr("Begun"));
  EXPECT_THAT(ran.out, HasSubstr("0.25"));
}

TEST(Sweep, ParametersOfAChangedSpecAreNotGuessed) {
  const auto ran =
      run("sweep trials s", server(sweep(kSpec, R"({"specHash":"another","counts":{"total":2}})")));
  EXPECT_EQ(ran.code, 0);
  EXPECT_THAT(ran.err, HasSubstr("was changed after the sweep had begun"));
  EXPECT_THAT(ran.out, Not(HasSubstr("0.1")));
}

TEST(Sweep, AnInvalidSpecIsTold) {
  const auto spec = R"({"parameters":[{"name":"n","integers":{"min":1,"max":1000000000}}],"job":{}})";
  const auto ran = run("sweep trials s", server(sweep(spec, "{}")));
  EXPECT_EQ(ran.code, 0);
  EXPECT_THAT(ran.err, HasSubstr("parameters are not known"));
  EXPECT_EQ(run("sweep show s 0", server(sweep(spec, "{}"))).code, 1);
}

TEST(Sweep, WrongWordsAreRefusedBeforeAnythingIsAsked) {
  for (const char* line :
       {"sweep", "sweep worst s", "sweep show", "sweep show s -1", "sweep show s x", "sweep best s 3",
        "sweep show s --sort value", "sweep show s -o json", "sweep best s -o csv", "sweep show gpujob/s",
        "sweep show Not_A_Name", "sweep show s/.."}) {
    const auto ran = test::run_command(sweeps::make_sweep(), line);
    EXPECT_EQ(ran.code, 2) << line << "\n" << ran.err;
    EXPECT_THAT(ran.out, IsEmpty()) << line;
  }
}

TEST(Sweep, WhatIsNotThere) {
  EXPECT_THAT(run("sweep show other").err, StartsWith("Error from server (NotFound)"));
  const auto ran = run("sweep show s 6");
  EXPECT_EQ(ran.code, 1);
  EXPECT_THAT(ran.err, HasSubstr("sweep s has 6 trials, from 0 on"));
}

}  // namespace
}  // namespace gpupool
