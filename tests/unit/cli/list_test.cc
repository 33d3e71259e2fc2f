// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "jobs/commands.h"
#include "tests/unit/cli/played_server.h"

namespace gpupool {
namespace {

using test::run_command;

constexpr char kJobTable[] =
    R"({"kind":"Table","apiVersion":"meta.k8s.io/v1","metadata":{"resourceVersion":"7"},"columnDefinitions":[
{"name":"Name","type":"string"},{"name":"Phase"},{"name":"Pool"},{"name":"GPUs"},{"name":"Nodes"},{"name":"Attempts"},
{"name":"Reason"},{"name":"Age"},{"name":"Master"},{"name":"Priority"},{"name":"Created"},{"name":"Namespace"}],"rows":[
{"cells":["bert","Running","lab","8","gpu-01,gpu-02,gpu-03,gpu-04,gpu-05,gpu-06",2,"WorkersRunning","3h5m","bert-1-0.bert-1",0,"2026-01-02T00:00:00Z","lab"],"object":null},
{"cells":["broken","Failed","lab","1","gpu-07",4,"BackoffLimitExceeded","2d","",0,"2026-01-01T00:00:00Z","lab"],"object":null},
{"cells":["late","Queued","lab","4 slices",null,0,"WaitingForNodes","12m",null,0,"2026-01-02T02:50:00Z","lab"],"object":null},
{"cells":["early","Queued","lab","16",null,0,"WaitingForNodes","20m",null,0,"2026-01-02T02:40:00Z","other"],"object":null},
{"cells":["first","Queued","lab","2",null,0,"WaitingForNodes","1m",null,7,"2026-01-02T03:00:00Z","lab"],"object":null},
{"cells":["quota","Queued","lab","2",null,0,"QuotaExceeded","30m",null,9,"2026-01-02T02:30:00Z","lab"],"object":null},
{"cells":["new\u001b[2J",null,"spare","1",null,null,null,"1s",null,0,"2026-01-02T03:04:04Z","lab"],"object":null}]})";

test::PlayedServer jobs_server() {
  return test::PlayedServer([](const net::HttpRequest&) { return test::answer(200, kJobTable); });
}

TEST(List, AsksForATableFromTheServersMemory) {
  auto server = jobs_server();
  run_command(jobs::make_list(), "list -l a=b", &server);
  run_command(jobs::make_list(), "list -A", &server);
  EXPECT_EQ(server.calls(),
            (std::vector<std::string>{
                "GET /apis/gpupool.dev/v1alpha1/namespaces/lab/gpujobs?labelSelector=a%3Db&resourceVersion=0&"
                "includeObject=None",
                "GET /apis/gpupool.dev/v1alpha1/gpujobs?resourceVersion=0&includeObject=None"}));
  EXPECT_EQ(server.asked().front().headers.front().value, "application/json;as=Table;v=v1;g=meta.k8s.io");
}

TEST(List, IsALineForEachJobInAFile) {
  auto server = jobs_server();
  const auto ran = run_command(jobs::make_list(), "list", &server);
  EXPECT_EQ(ran.code, 0);
  EXPECT_EQ(ran.err, "");
  EXPECT_EQ(
      ran.out,
      R"(NAME      PHASE     POOL    GPUS       NODES                                       REASON                 AGE
bert      Running   lab     8          gpu-01,gpu-02,gpu-03,gpu-04,gpu-05,gpu-06   WorkersRunning         3h5m
broken    Failed    lab     1          gpu-07                                      BackoffLimitExceeded   2d
late      Queued    lab     4 slices   -                                           WaitingForNodes        12m
early     Queued    lab     16         -                                           WaitingForNodes        20m
first     Queued    lab     2          -                                           WaitingForNodes        1m
quota     Queued    lab     2          -                                           QuotaExceeded          30m
new [2J   -         spare   1          -                                           -                      1s
)");
}

TEST(List, Screens) {
  auto server = jobs_server();
  for (const std::size_t columns : {80U, 200U}) {
    for (const bool colour : {false, true}) {
      const auto name = "list-" + std::to_string(columns) + (colour ? "-colour" : "");
      const test::Place place{test::terminal_with(columns, colour)};
      test::expect_screen(name, run_command(jobs::make_list(), "list", &server, place).out);
      test::expect_screen(name + "-wide",
                          run_command(jobs::make_list(), "list -A -o wide", &server, place).out);
    }
  }
}

TEST(List, FormsForPrograms) {
  auto server = jobs_server();
  EXPECT_EQ(run_command(jobs::make_list(), "list --phase failed -o name", &server).out,
            "gpujob.gpupool.dev/broken\n");
  EXPECT_EQ(run_command(jobs::make_list(), "list --phase failed -o yaml", &server).out,
            R"(apiVersion: cli.gpupool.dev/v1
kind: JobList
items:
  - namespace: lab
    name: broken
    phase: Failed
    pool: lab
    gpus: "1"
    nodes: gpu-07
    reason: BackoffLimitExceeded
    attempts: 4
    master: ""
    priority: 0
    created: "2026-01-01T00:00:00Z"
)");
  const auto json = run_command(jobs::make_list(), "list --pool spare -o json", &server).out;
  EXPECT_NE(json.find(R"("apiVersion": "cli.gpupool.dev/v1")"), std::string::npos);
  EXPECT_NE(json.find(R"("name": "new\u001b[2J")"), std::string::npos);
}

TEST(List, NothingFoundIsNoError) {
  auto server = jobs_server();
  const auto ran = run_command(jobs::make_list(), "list --phase suspended", &server);
  EXPECT_EQ(ran.code, 0);
  EXPECT_EQ(ran.out, "");
  EXPECT_EQ(ran.err, "No jobs found in lab namespace.\n");
}

TEST(List, WrongPhasesAreNamedBeforeAnythingIsAsked) {
  auto server = jobs_server();
  const auto ran = run_command(jobs::make_list(), "list --phase queued,runing", &server);
  EXPECT_EQ(ran.code, 2);
  EXPECT_EQ(ran.err.substr(0, ran.err.find('\n')),
            "error: --phase: \"runing\" is none of: Queued, Invalid, Starting, Running, Restarting, "
            "Releasing, Suspended, "
            "Succeeded, Failed");
  EXPECT_TRUE(server.calls().empty());
}

TEST(List, ADefinitionWithoutNamespacesIsTold) {
  test::PlayedServer server([](const net::HttpRequest&) {
    return test::answer(200,
                        R"({"kind":"Table","columnDefinitions":[{"name":"Name"}],"rows":[{"cells":["a"]}]})");
  });
  EXPECT_EQ(run_command(jobs::make_list(), "list -o name", &server).out, "gpujob.gpupool.dev/a\n");
  const auto ran = run_command(jobs::make_list(), "list -A", &server);
  EXPECT_EQ(ran.code, 1);
  EXPECT_NE(ran.err.find("older than this program"), std::string::npos);
}

TEST(List, BrokenAnswersAreErrors) {
  for (const char* body :
       {R"({"kind":"Table","columnDefinitions":[{"name":"Name"}],"rows":[{"cells":["a",1]}]})",
        R"({"kind":"GpuJobList","items":[]})", R"({"kind":"Table","rows":[{"cel)", "<html>"}) {
    test::PlayedServer server([&](const net::HttpRequest&) { return test::answer(200, body); });
    const auto ran = run_command(jobs::make_list(), "list", &server);
    EXPECT_EQ(ran.code, 1) << body;
    EXPECT_EQ(ran.out, "") << body;
  }
}

constexpr char kPool[] =
    R"({"metadata":{"name":"lab"},"status":{"nodes":{"total":16,"available":2},"gpus":{"total":32,"available":3},
"jobs":{"queued":4,"running":9}}})";

TEST(Queue, IsInTheOperatorsOrder) {
  test::PlayedServer server([](const net::HttpRequest& request) {
    return test::answer(200, request.target.find("gpupools") == std::string::npos ? kJobTable : kPool);
  });
  const auto ran = run_command(jobs::make_queue(), "queue lab", &server);
  EXPECT_EQ(ran.err, "");
  EXPECT_EQ(ran.out, R"(pool lab: 2 of 16 nodes and 3 of 32 GPUs available, 9 jobs run, 4 wait
PLACE   NAMESPACE   NAME    PRIORITY   GPUS       REASON            AGE
1       lab         first   7          2          WaitingForNodes   1m
2       other       early   0          16         WaitingForNodes   20m
3       lab         late    0          4 slices   WaitingForNodes   12m
-       lab         quota   9          2          QuotaExceeded     30m
)");
  const auto json = run_command(jobs::make_queue(), "queue lab -o json", &server).out;
  EXPECT_NE(json.find(R"("place": 3)"), std::string::npos);
  EXPECT_EQ(json.find(R"("place": 4)"), std::string::npos);
}

TEST(Queue, OfOneNamespaceHasNoPlaces) {
  test::PlayedServer server([](const net::HttpRequest& request) {
    if (request.target.find("gpupools") != std::string::npos) return test::answer(200, kPool);
    if (request.target.find("namespaces/lab") != std::string::npos) return test::answer(200, kJobTable);
    return test::refusal(403, "Forbidden", "not you");
  });
  const auto ran = run_command(jobs::make_queue(), "queue lab", &server);
  EXPECT_EQ(ran.code, 0);
  EXPECT_EQ(ran.err, "Only jobs of namespace lab are shown: you may not list those of all namespaces.\n");
  EXPECT_NE(ran.out.find("\n-       lab         first"), std::string::npos);
}

TEST(Queue, OfAPoolThatIsNotThereIsAnError) {
  test::PlayedServer server([](const net::HttpRequest&) {
    return test::refusal(404, "NotFound", "gpupools.gpupool.dev \"lba\" not found");
  });
  const auto ran = run_command(jobs::make_queue(), "queue lba", &server);
  EXPECT_EQ(ran.code, 1);
  EXPECT_EQ(ran.err, "Error from server (NotFound): gpupools.gpupool.dev \"lba\" not found\n");
}

}  // namespace
}  // namespace gpupool
