// SPDX-License-Identifier: Apache-2.0
#include "checks/api_server.h"

#include <gtest/gtest.h>

#include "tests/unit/preflight/judged.h"

namespace gpupool::checks {
namespace {

using Pools = ApiServerFacts::Pools;

ApiServerFacts answered(int status, Pools pools = Pools::kReadable) {
  ApiServerFacts facts;
  facts.url = "https://k8s:6443";
  facts.status = status;
  facts.version = status == 200 ? "v1.30.2" : "";
  facts.took = std::chrono::milliseconds(12);
  facts.has_credentials = true;
  facts.pools = pools;
  facts.pools_error = "list GpuPool: the server says why";
  return facts;
}

TEST(JudgeApiServer, ReachableIsGood) {
  test::expect_judged(
      judge_api_server(answered(200)),
      {Verdict::kOk, "https://k8s:6443 answered in 12 ms, Kubernetes v1.30.2, GpuPools can be read"});
  auto anonymous = answered(401, Pools::kNotAsked);
  anonymous.has_credentials = false;
  test::expect_judged(judge_api_server(anonymous), {Verdict::kOk, "certificate and rights not checked"});
}

TEST(JudgeApiServer, SaysWhatKeepsItFromAnswering) {
  ApiServerFacts facts;
  facts.no_config = "no way to an API server";
  test::expect_judged(judge_api_server(facts), {Verdict::kWarn, "not tried: no way", "--kubeconfig FILE"});
  facts = {};
  facts.bad_config = "--kubeconfig: x: no such file";
  test::expect_judged(judge_api_server(facts), {Verdict::kFail, "no such file", "--kubeconfig"});
  facts = {};
  facts.url = "https://k8s:6443";
  facts.error = "connection refused";
  test::expect_judged(judge_api_server(facts), {Verdict::kFail, "https://k8s:6443: connection refused",
                                                "curl -k https://k8s:6443/version"});
}

TEST(JudgeApiServer, JudgesTheAnswer) {
  test::expect_judged(judge_api_server(answered(401, Pools::kNotAsked)),
                      {Verdict::kFail, "refuses the credentials", "kubeconfig"});
  test::expect_judged(judge_api_server(answered(503, Pools::kNotAsked)),
                      {Verdict::kFail, "answers 503", "administrator"});
  test::expect_judged(judge_api_server(answered(404, Pools::kNotAsked)),
                      {Verdict::kFail, "no API server", "URL"});
  auto slow = answered(200);
  slow.took = std::chrono::milliseconds(1001);
  test::expect_judged(judge_api_server(slow), {Verdict::kWarn, "took 1001 ms", "packet loss"});
}

TEST(JudgeApiServer, JudgesTheRightToReadPools) {
  test::expect_judged(judge_api_server(answered(200, Pools::kForbidden)),
                      {Verdict::kWarn, "may not read GpuPools", "the server says why"});
  test::expect_judged(judge_api_server(answered(200, Pools::kUndefined)),
                      {Verdict::kFail, "gpupool is not installed", "docs/install.md"});
  test::expect_judged(judge_api_server(answered(200, Pools::kFailed)),
                      {Verdict::kFail, "the server says why", "administrator"});
}

}  // namespace
}  // namespace gpupool::checks
