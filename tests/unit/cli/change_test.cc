// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "jobs/commands.h"
#include "jobs/outcome.h"
#include "tests/unit/cli/played_server.h"

namespace gpupool {
namespace {

using test::run_command;
using testing::ElementsAre;
using testing::HasSubstr;

constexpr char kPath[] = "/apis/gpupool.dev/v1alpha1/namespaces/lab/gpujobs";

std::string job_text(const std::string& name, const std::string& spec, const std::string& status) {
  return R"({"apiVersion":"gpupool.dev/v1alpha1","kind":"GpuJob","metadata":{"name":")" + name +
         R"(","namespace":"lab","uid":"u-)" + name +
         R"(","resourceVersion":"5","labels":{"team":"a"},"annotations":{)" +
         R"("kubectl.kubernetes.io/last-applied-configuration":"x","gpupool.dev/explain":"y","note":"z"}},"spec":)" +
         spec + R"(,"status":)" + status + "}";
}

const std::string kRunning =
    job_text("a", R"({"pool":"p"})",
             R"({"phase":"Running","lease":{"id":"u.1","state":"Running","nodes":[{"name":"n"}]}})");
const std::string kFailed = job_text("a", R"({"pool":"p","suspend":false})", R"({"phase":"Failed"})");

// Answers reads with the job and everything else with success.
test::PlayedServer server_with(const std::string& job) {
  return test::PlayedServer([job](const net::HttpRequest& request) {
    if (request.method == "POST") return test::answer(201, request.body);
    return test::answer(200, job);
  });
}

TEST(Cancel, DeletesThisJobAndNoOtherOfItsName) {
  auto server = server_with(kRunning);
  const auto ran = run_command(jobs::make_cancel(), "cancel gpujob.gpupool.dev/a", &server);
  EXPECT_EQ(ran.out, "gpujob.gpupool.dev/a cancelled\n");
  EXPECT_THAT(server.calls(),
              ElementsAre(std::string("GET ") + kPath + "/a", std::string("DELETE ") + kPath + "/a"));
  EXPECT_THAT(server.asked().back().body, HasSubstr(R"("uid":"u-a")"));
}

TEST(Cancel, AsksAPersonFirst) {
  for (const auto& [input, calls] : {std::pair("n\n", 1U), std::pair("", 1U), std::pair("y\n", 2U)}) {
    auto server = server_with(kRunning);
    const auto ran = run_command(jobs::make_cancel(), "cancel a", &server, {.asks = true, .input = input});
    EXPECT_EQ(ran.code, 0);
    EXPECT_THAT(ran.err,
                HasSubstr("Cancel a (Running on 1 node)? It is deleted, with the logs of its pods. [y/N] "));
    EXPECT_EQ(server.calls().size(), calls) << input;
  }
  auto server = server_with(kRunning);
  EXPECT_EQ(run_command(jobs::make_cancel(), "cancel a -y", &server, {.asks = true}).err, "");
  EXPECT_EQ(server.calls().size(), 2U);
}

TEST(Cancel, OneThatFailsDoesNotKeepTheOthers) {
  test::PlayedServer server([](const net::HttpRequest& request) {
    if (request.target.ends_with("/b")) return test::refusal(404, "NotFound", "no b");
    return test::answer(200, kRunning);
  });
  const auto ran = run_command(jobs::make_cancel(), "cancel b a", &server);
  EXPECT_EQ(ran.code, 1);
  EXPECT_EQ(ran.err, "Error from server (NotFound): no b\n");
  EXPECT_EQ(ran.out, "gpujob.gpupool.dev/a cancelled\n");
}

TEST(Change, NamesThatCannotBeAreRefusedBeforeAnythingIsAsked) {
  for (const char* name : {"A", "a/b", "pod/a", "-a-", "a_b", "..", "gjob/"}) {
    auto server = server_with(kRunning);
    EXPECT_EQ(run_command(jobs::make_suspend(), std::string("suspend x ") + name, &server).code, 2) << name;
    EXPECT_TRUE(server.calls().empty()) << name;
  }
}

TEST(Suspend, AndResume) {
  auto server = server_with(kRunning);
  EXPECT_EQ(run_command(jobs::make_suspend(), "suspend a", &server).out, "gpujob.gpupool.dev/a suspended\n");
  EXPECT_EQ(server.asked().back().body, R"({"spec":{"suspend":true}})");
  auto ran = run_command(jobs::make_resume(), "resume a", &server);
  EXPECT_EQ(ran.code, 1);
  EXPECT_EQ(ran.err, "error: a is not suspended: Running on 1 node\n");
  auto ended = server_with(kFailed);
  ran = run_command(jobs::make_suspend(), "suspend a", &ended);
  EXPECT_EQ(ran.err, "error: a has ended: Failed\n");
  EXPECT_EQ(ended.calls().size(), 1U);
  auto held = server_with(job_text("a", R"({"suspend":true})", R"({"phase":"Suspended"})"));
  EXPECT_EQ(run_command(jobs::make_suspend(), "suspend a", &held).out,
            "gpujob.gpupool.dev/a is suspended already\n");
  EXPECT_EQ(run_command(jobs::make_resume(), "resume a", &held).out, "gpujob.gpupool.dev/a resumed\n");
  EXPECT_EQ(held.asked().back().body, R"({"spec":{"suspend":false}})");
}

TEST(Priority, IsOneWrite) {
  auto server = server_with(kRunning);
  const auto ran = run_command(jobs::make_priority(), "priority a -7", &server);
  EXPECT_EQ(ran.out, "gpujob.gpupool.dev/a has priority -7\n");
  EXPECT_EQ(ran.err, "It is Running on 1 node: the number counts when it waits again.\n");
  EXPECT_THAT(server.calls(), ElementsAre(std::string("PATCH ") + kPath + "/a"));
  EXPECT_EQ(server.asked().back().body, R"({"spec":{"priority":-7}})");
  EXPECT_EQ(run_command(jobs::make_priority(), "priority a 1000001", &server).code, 2);
}

TEST(Retry, IsANewJobFromTheOldSpec) {
  auto server = server_with(kFailed);
  const auto ran = run_command(jobs::make_retry(), "retry a", &server);
  EXPECT_EQ(ran.out, "gpujob.gpupool.dev/a-r2 created\n") << ran.err;
  EXPECT_EQ(
      server.asked().back().body,
      R"({"apiVersion":"gpupool.dev/v1alpha1","kind":"GpuJob","metadata":{"name":"a-r2","namespace":"lab",)"
      R"("labels":{"team":"a"},"annotations":{"note":"z","gpupool.dev/retry-of":"a"}},"spec":{"pool":"p"}})");
  auto running = server_with(kRunning);
  EXPECT_EQ(run_command(jobs::make_retry(), "retry a", &running).code, 1);
  EXPECT_EQ(running.calls().size(), 1U);
}

TEST(Retry, TakesTheNextFreeName) {
  const std::string old = job_text("a-r9", R"({"pool":"p"})", R"({"phase":"Failed"})");
  int refused = 0;
  test::PlayedServer server([&](const net::HttpRequest& request) {
    if (request.method == "POST" && ++refused < 3) return test::refusal(409, "AlreadyExists", "there");
    return test::answer(200, request.method == "POST" ? request.body : old);
  });
  EXPECT_EQ(run_command(jobs::make_retry(), "retry a-r9", &server).out, "gpujob.gpupool.dev/a-r12 created\n");
}

TEST(Retry, ASharedScriptGetsOneMoreOwner) {
  const std::string old = job_text(
      "a",
      R"({"pool":"p","template":{"spec":{"volumes":[{"name":"gpupool-script","configMap":{"name":"a-script"}}]}}})",
      R"({"phase":"Failed"})");
  test::PlayedServer server([&](const net::HttpRequest& request) {
    if (request.target.find("configmaps") != std::string::npos) {
      return test::answer(
          200, R"({"metadata":{"name":"a-script","resourceVersion":"9","ownerReferences":[{"uid":"old"}]}})");
    }
    if (request.method == "GET") return test::answer(200, old);
    return test::answer(200, job_text("a-r2", "{}", "{}"));
  });
  EXPECT_EQ(run_command(jobs::make_retry(), "retry a", &server).code, 0);
  EXPECT_THAT(server.calls(), ElementsAre(std::string("GET ") + kPath + "/a", std::string("POST ") + kPath,
                                          "GET /api/v1/namespaces/lab/configmaps/a-script",
                                          "PATCH /api/v1/namespaces/lab/configmaps/a-script",
                                          std::string("PATCH ") + kPath + "/a-r2"));
  EXPECT_THAT(server.asked()[1].body, HasSubstr(R"("suspend":true)"));
  EXPECT_EQ(
      server.asked()[3].body,
      R"({"metadata":{"resourceVersion":"9","ownerReferences":[{"uid":"old"},{"apiVersion":"gpupool.dev/v1alpha1",)"
      R"("kind":"GpuJob","name":"a-r2","uid":"u-a-r2"}]}})");
}

api::GpuJob ended(const char* phase, const char* reason, const char* message) {
  api::GpuJob job;
  job.status.phase = phase;
  job.status.reason = reason;
  job.status.message = message;
  return job;
}

TEST(Outcome, IsTheExitCodeOfTheFirstRank) {
  using jobs::outcome_code;
  EXPECT_EQ(outcome_code(ended("Succeeded", "Completed", "")), 0);
  EXPECT_EQ(outcome_code(ended("Failed", "BackoffLimitExceeded",
                               "attempt 0: rank 2 exited with code 3; last lines:\nx")),
            3);
  EXPECT_EQ(outcome_code(ended("Failed", "BackoffLimitExceeded", "attempt 3: rank 0 killed by signal 11")),
            139);
  EXPECT_EQ(outcome_code(ended("Failed", "BackoffLimitExceeded",
                               "attempt 3: rank 0 was killed because it ran out of memory")),
            137);
  EXPECT_EQ(outcome_code(ended("Failed", "BackoffLimitExceeded",
                               "attempt 0: rank 0 did not start; last lines:\nexited with code 7")),
            125);
  EXPECT_EQ(outcome_code(ended("Failed", "BackoffLimitExceeded", "attempt 0: rank 0 exited with code 0")),
            125);
  EXPECT_EQ(outcome_code(ended("Failed", "DeadlineExceeded", "")), 124);
  EXPECT_EQ(outcome_code(ended("Failed", "StartTimeout", "")), 125);
}

TEST(Wait, EndsOnSuccessAndOnFailure) {
  auto failed = server_with(job_text("a", "{}", R"({"phase":"Failed","reason":"BackoffLimitExceeded",
"message":"attempt 0: rank 0 exited with code 3; last lines:\nhalf\u001b[2J"})"));
  auto ran = run_command(jobs::make_wait(), "wait a", &failed);
  EXPECT_EQ(ran.code, 3);
  EXPECT_EQ(ran.err,
            "a Failed (BackoffLimitExceeded): attempt 0: rank 0 exited with code 3; last lines:\nhalf [2J\n");
  auto gone =
      test::PlayedServer([](const net::HttpRequest&) { return test::refusal(404, "NotFound", "no a"); });
  ran = run_command(jobs::make_wait(), "wait a", &gone);
  EXPECT_EQ(ran.code, 1);
  EXPECT_EQ(ran.err, "Error from server (NotFound): no a\n");
}

TEST(Wait, FollowsTheWatchAndReadsAgainWhenItBreaks) {
  const std::string queued = job_text("a", "{}", R"({"phase":"Queued","reason":"WaitingForNodes"})");
  const std::string done = job_text("a", "{}", R"({"phase":"Succeeded","reason":"Completed"})");
  int watches = 0;
  test::PlayedServer server([&](const net::HttpRequest& request) {
    if (request.target.find("watch=true") == std::string::npos) return test::answer(200, queued);
    if (++watches == 1)
      return test::answer(200, R"({"type":"ERROR","object":{}})"
                               "\n");
    if (watches == 2) return test::answer(200, "");
    return test::answer(200, R"({"type":"MODIFIED","object":)" + kRunning + "}\n" +
                                 R"({"type":"MODIFIED","object":)" + done + "}\n");
  });
  const auto ran = run_command(jobs::make_wait(), "wait a", &server);
  EXPECT_EQ(ran.code, 0);
  EXPECT_EQ(ran.err, "a Queued (WaitingForNodes)\na Running\na Succeeded (Completed)\n");
  EXPECT_EQ(watches, 3);
  EXPECT_THAT(server.calls()[1], HasSubstr("fieldSelector=metadata.name%3Da&resourceVersion=5"));
}

TEST(Wait, AnotherJobOfTheNameIsNotTheOneThatWasAwaited) {
  int reads = 0;
  test::PlayedServer server([&](const net::HttpRequest& request) {
    if (request.target.find("watch=true") != std::string::npos) return test::answer(200, "");
    return test::answer(200,
                        ++reads == 1 ? kRunning : R"({"metadata":{"name":"a","uid":"other"},"spec":{}})");
  });
  const auto ran = run_command(jobs::make_wait(), "wait a -q", &server);
  EXPECT_EQ(ran.code, 1);
  EXPECT_EQ(ran.err, "error: gpujob.gpupool.dev \"a\" was deleted; there is another one of this name now\n");
}

}  // namespace
}  // namespace gpupool
