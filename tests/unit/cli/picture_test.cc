// SPDX-License-Identifier: Apache-2.0
#include "nodes/picture.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/rfc3339.h"
#include "nodes/commands.h"
#include "screen/live_screen.h"
#include "tests/unit/cli/played_server.h"

namespace gpupool {
namespace {

using testing::HasSubstr;

constexpr char kNodes[] = R"({"metadata":{"resourceVersion":"9"},"items":[
{"metadata":{"name":"gpu-2"},"status":{"lastReport":"2026-01-02T03:03:40Z","gpus":[
  {"index":0,"model":"RTX-4070-Ti-SUPER","memoryMiB":16376,"health":"Healthy","slices":{"total":10,"free":5},
   "pods":[{"namespace":"bob","name":"nb-1-x7","slices":3},{"namespace":"carol","name":"eval\u001b[2J-1-a","slices":2}],
   "usage":{"utilizationPercent":31,"memoryUsedMiB":6144,"temperatureCelsius":48,"powerMilliwatts":90499}},
  {"index":1,"model":"RTX-4070-Ti-SUPER","memoryMiB":16376,"health":"Healthy","reason":"MIG mode","slices":{"total":0,"free":0}}]}},
{"metadata":{"name":"gpu-1"},"status":{"lastReport":"2026-01-02T03:03:40Z","message":"","gpus":[
  {"index":0,"model":"NVIDIA-H100-80GB-HBM3","memoryMiB":81559,"health":"Healthy","slices":{"total":1,"free":0},
   "pods":[{"namespace":"alice","name":"resnet-1-0","slices":1}],
   "usage":{"utilizationPercent":4,"memoryUsedMiB":70000,"temperatureCelsius":88,"powerMilliwatts":240500}},
  {"index":1,"model":"NVIDIA-H100-80GB-HBM3","memoryMiB":81559,"health":"Healthy","slices":{"total":1,"free":1},"usage":{}}]}},
{"metadata":{"name":"gpu-3"},"status":{"lastReport":"2026-01-02T02:50:00Z","message":"1 GPU is lost","gpus":[
  {"index":0,"model":"RTX-4070-Ti-SUPER","memoryMiB":16376,"health":"Unhealthy","reason":"Xid79","slices":{"total":10,"free":0}}]}},
{"metadata":{"name":"gpu-4"},"status":{}}]})";

test::PlayedServer nodes_server() {
  return test::PlayedServer([](const net::HttpRequest& request) {
    if (request.target.starts_with("/apis/gpupool.dev/v1alpha1/gpunodes?")) return test::answer(200, kNodes);
    if (request.target.ends_with("/gpunodes/gpu-3") || request.target.ends_with("/gpunodes/both") ||
        request.target.ends_with("/gpupools/both")) {
      return test::answer(200, R"({"metadata":{"name":"gpu-3"}})");
    }
    if (request.target.ends_with("/gpupools?resourceVersion=0") ||
        request.target.starts_with("/api/v1/nodes")) {
      return test::answer(200, R"({"metadata":{"resourceVersion":"1"},"items":[]})");
    }
    if (request.target.ends_with("/gpujobs/resnet")) {
      return test::answer(
          200, R"({"metadata":{"name":"resnet","namespace":"alice","uid":"u"},"status":{"phase":"Running",
"lease":{"id":"u.1","nodes":[{"name":"gpu-1"}]}}})");
    }
    if (request.target.find("/pods?") != std::string::npos) {
      return test::answer(
          200,
          R"({"metadata":{"resourceVersion":"1"},"items":[{"metadata":{"name":"resnet-1-0","namespace":"alice"}}]})");
    }
    return test::refusal(404, "NotFound", "not there");
  });
}

TEST(Top, Screens) {
  auto server = nodes_server();
  for (const std::size_t columns : {80U, 200U}) {
    for (const bool colour : {false, true}) {
      test::expect_screen(
          "top-" + std::to_string(columns) + (colour ? "-colour" : ""),
          test::run_command(nodes::make_top(), "top --once", &server, {test::terminal_with(columns, colour)})
              .out);
    }
  }
}

TEST(Top, IsPrintedOnceInAFile) {
  auto server = nodes_server();
  const auto ran = test::run_command(nodes::make_top(), "top", &server);
  EXPECT_EQ(ran.code, 0);
  EXPECT_THAT(ran.out, HasSubstr("4 nodes, 5 GPUs, 2 in use, 1 not healthy, 6 of 22 slices free\n"));
  EXPECT_EQ(ran.out.find('\x1b'), std::string::npos);
  EXPECT_THAT(ran.out, HasSubstr("[AAABB.....]"));
  EXPECT_THAT(ran.out, HasSubstr("A bob/nb-1-x7  B carol/eval [2J-1-a"));
}

TEST(Top, OfANodeOrAJobShowsOnlyThat) {
  auto server = nodes_server();
  EXPECT_THAT(test::run_command(nodes::make_top(), "top gpu-3", &server).out,
              HasSubstr("node gpu-3: 1 node, 1 GPU, 0 in use"));
  const auto job = test::run_command(nodes::make_top(), "top job/resnet", &server).out;
  EXPECT_THAT(job, HasSubstr("job resnet: 1 node, 1 GPU, 1 in use"));
  EXPECT_THAT(job, HasSubstr("alice/resnet-1-0"));
}

TEST(Top, WrongWordsAreNamed) {
  auto server = nodes_server();
  auto ran = test::run_command(nodes::make_top(), "top both", &server);
  EXPECT_EQ(ran.code, 2);
  EXPECT_THAT(ran.err, HasSubstr("\"both\" is a pool and a node: say pool/both, node/both or job/both"));
  ran = test::run_command(nodes::make_top(), "top nothing", &server);
  EXPECT_EQ(ran.err, "error: no pool, node or job in namespace lab is called \"nothing\"\n");
  EXPECT_EQ(test::run_command(nodes::make_top(), "top pods/x", &server).code, 2);
  EXPECT_EQ(test::run_command(nodes::make_top(), "top --every 1ms", &server).code, 2);
}

TEST(Top, JsonHasTheReadings) {
  auto server = nodes_server();
  const auto json = test::run_command(nodes::make_top(), "top -o json", &server).out;
  EXPECT_THAT(json, HasSubstr(R"("apiVersion": "cli.gpupool.dev/v1")"));
  EXPECT_THAT(json, HasSubstr(R"("powerMilliwatts": 240500)"));
}

TEST(LiveScreen, ShowsWhatFits) {
  EXPECT_EQ(screen::frame("a\nb\n", 3), "\x1b[Ha\x1b[K\r\nb\x1b[K\r\n\x1b[J");
  EXPECT_EQ(screen::frame("a\nb\nc\nd\n", 4), "\x1b[Ha\x1b[K\r\nb\x1b[K\r\n... 2 more lines\x1b[K\x1b[J");
}

TEST(Drain, CordonsAndWaitsForTheJobsThere) {
  int lists = 0;
  test::PlayedServer server([&](const net::HttpRequest& request) {
    const std::string held =
        R"({"metadata":{"name":"a","namespace":"lab","uid":"u"},"status":{"phase":"Running",
"lease":{"id":"u.1","nodes":[{"name":"n1"}]}}})";
    const std::string free =
        R"({"metadata":{"name":"a","namespace":"lab","uid":"u"},"status":{"phase":"Succeeded"}})";
    if (request.method == "PATCH") return test::answer(200, R"({"metadata":{"name":"n1"}})");
    if (request.target.find("watch=true") != std::string::npos) {
      return test::answer(200, R"({"type":"MODIFIED","object":)" + free + "}\n");
    }
    if (request.target.ends_with("/gpujobs/a")) return test::answer(200, held);
    return test::answer(
        200, R"({"metadata":{"resourceVersion":"1"},"items":[)" + (++lists == 1 ? held : free) + "]}");
  });
  const auto ran = test::run_command(nodes::make_drain(), "drain n1 --reason power", &server);
  EXPECT_EQ(ran.code, 0) << ran.err;
  EXPECT_EQ(ran.out, "node/n1 cordoned\nlab/a holds it: Running on 1 node\nnode/n1 is free\n");
  EXPECT_EQ(
      server.asked().front().body,
      R"({"spec":{"unschedulable":true},"metadata":{"annotations":{"gpupool.dev/drain-reason":"power"}}})");
  EXPECT_EQ(test::run_command(nodes::make_undrain(), "undrain n1", &server).out, "node/n1 uncordoned\n");
}

}  // namespace
}  // namespace gpupool
