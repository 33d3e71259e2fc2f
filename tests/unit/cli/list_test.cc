// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
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

constexpr char kWatchedHead[] =
    R"({"kind":"Table","metadata":{"resourceVersion":"VERSION"},"columnDefinitions":[{"name":"Name"},{"name":"Phase"},)"
    R"({"name":"Pool"},{"name":"GPUs"},{"name":"Nodes"},{"name":"Reason"},{"name":"Age"}],"rows":[)";

std::string watched_list(const std::string& version, const std::string& rows) {
  std::string head = kWatchedHead;
  return head.replace(head.find("VERSION"), 7, version) + rows + "]}";
}

std::string watched_row(const std::string& name, const std::string& phase, const std::string& age) {
  return R"({"cells":[")" + name + R"(",")" + phase + R"(","lab","1",null,null,")" + age +
         R"("],"object":null})";
}

std::string watched_event(const std::string& type, const std::string& row) {
  return R"({"type":")" + type + R"(","object":{"kind":"Table","columnDefinitions":null,"rows":[)" + row +
         "]}}\n";
}

TEST(List, WatchPrintsEachChangeOnceAlsoThoseBetweenTwoWatches) {
  const std::vector<net::HttpResponse> answers{
      test::answer(200, watched_list("7", watched_row("bert", "Queued", "1m") + "," +
                                              watched_row("old", "Running", "2d"))),
      test::answer(200, R"({"type":"BOOKMARK","object":{"kind":"Table","rows":[]}})"
                        "\n" +
                            watched_event("MODIFIED", watched_row("bert", "Queued", "2m")) +
                            watched_event("MODIFIED", watched_row("bert", "Starting", "2m")) +
                            watched_event("ADDED", watched_row("a-longer-name", "Queued", "0s"))),
      test::answer(200, watched_list("9", watched_row("a-longer-name", "Queued", "9s") + "," +
                                              watched_row("bert", "Running", "3m"))),
      test::answer(200, watched_event("DELETED", watched_row("bert", "Running", "4m"))),
      test::refusal(403, "Forbidden", "not any more")};
  std::size_t next = 0;
  test::PlayedServer server([&](const net::HttpRequest&) { return answers.at(next++); });
  const auto ran = run_command(jobs::make_list(), "list -w", &server);
  EXPECT_EQ(ran.code, 1);
  EXPECT_EQ(ran.out, R"(NAME   PHASE     POOL   GPUS   NODES   REASON   AGE
bert   Queued    lab    1      -       -        1m
old    Running   lab    1      -       -        2d
bert   Starting   lab    1      -       -        2m
a-longer-name   Queued    lab    1      -       -        0s
bert   Running   lab    1      -       -        3m
old    Deleted   lab    1      -       -        -
bert   Deleted   lab    1      -       -        4m
)");
  EXPECT_NE(ran.err.find("not any more"), std::string::npos) << ran.err;
  EXPECT_NE(server.asked().at(1).target.find("watch=true"), std::string::npos);
  EXPECT_NE(server.asked().at(1).target.find("resourceVersion=7"), std::string::npos);
  EXPECT_EQ(server.asked().at(1).headers.front().value, "application/json;as=Table;v=v1;g=meta.k8s.io");
}

TEST(List, WatchIsForPeople) {
  auto server = jobs_server();
  const auto ran = run_command(jobs::make_list(), "list --watch -o json", &server);
  EXPECT_EQ(ran.code, 2);
  EXPECT_NE(ran.err.find("--watch cannot be used with -o json"), std::string::npos);
  EXPECT_TRUE(server.calls().empty());
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

TEST(Queue, TellsSparesAndWhoIsOnDrainedNodes) {
  constexpr char kDrained[] =
      R"({"metadata":{"name":"lab"},"status":{"nodes":{"total":16,"available":2,"spare":1},"gpus":{"total":32,"available":3},
"jobs":{"queued":4,"running":9},"draining":[
{"node":"gpu-3","waitsFor":"nlp/bert","deadline":"2026-11-24T18:00:00Z"},{"node":"gpu-4","problem":"\"soon\" is no\ntime"}]}})";
  test::PlayedServer server([&](const net::HttpRequest& request) {
    return test::answer(200, request.target.find("gpupools") == std::string::npos ? kJobTable : kDrained);
  });
  EXPECT_THAT(
      run_command(jobs::make_queue(), "queue lab", &server).out,
      testing::StartsWith("pool lab: 2 of 16 nodes and 3 of 32 GPUs available, 1 spare, 9 jobs run, 4 wait\n"
                          "node gpu-3 is draining until 2026-11-24T18:00:00Z: nlp/bert holds it\n"
                          "node gpu-4 is draining; \"soon\" is no time\nPLACE"));
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

constexpr char kPoolOfTurns[] =
    R"({"metadata":{"name":"lab"},"spec":{"queue":{"tenants":[{"name":"nlp","namespaces":["lab"],"weight":2,"guaranteed":8,"limit":16}]}},
"status":{"nodes":{"total":16,"available":2},"gpus":{"total":32,"available":3},"jobs":{"queued":4,"running":9},
"queue":{"holder":{"job":"other/early","workers":2,"latestStart":"2026-11-24T18:00:00Z"},"tenants":[
{"name":"nlp","queued":3,"held":"8","averageHeld":"5300m","usage":"1"},{"name":"other","queued":1,"held":"0","averageHeld":"0","usage":"0"}]}}})";
constexpr char kJobsOfTurns[] =
    R"({"kind":"GpuJobList","metadata":{"resourceVersion":"1"},"items":[
{"metadata":{"name":"early","namespace":"other","uid":"u1"},"spec":{"pool":"lab"},"status":{"phase":"Queued","queue":{"tenant":"other","place":1,"estimatedStart":"2026-11-24T18:00:00Z","basis":"Bounds"}}},
{"metadata":{"name":"first","namespace":"lab","uid":"u2"},"spec":{"pool":"lab"},"status":{"phase":"Queued","queue":{"tenant":"nlp","place":20}}},
{"metadata":{"name":"runs","namespace":"lab","uid":"u3"},"spec":{"pool":"lab"},"status":{"phase":"Running","lease":{"state":"Running","nodes":[{"name":"n1"}]}}},
{"metadata":{"name":"owner","namespace":"lab","uid":"u4"},"spec":{"pool":"lab"},"status":{"phase":"Queued","lease":{"state":"Awaiting","nodes":[{"name":"n1"}],"awaits":["u3","u9"],"awaitsUntil":"2026-11-24T17:00:00Z"}}}]})";

TEST(Queue, OfTenantsTellsTurnsAndClaims) {
  test::PlayedServer server([](const net::HttpRequest& request) {
    if (request.target.find("gpupools") != std::string::npos) return test::answer(200, kPoolOfTurns);
    const bool table = request.headers.front().value.find("as=Table") != std::string::npos;
    return test::answer(200, table ? kJobTable : kJobsOfTurns);
  });
  const auto ran = run_command(jobs::make_queue(), "queue lab", &server);
  EXPECT_EQ(ran.err, "");
  EXPECT_EQ(ran.out,
            R"(pool lab: 2 of 16 nodes and 3 of 32 GPUs available, 9 jobs run, 4 wait
first in line: other/early, starts by 2026-11-24T18:00:00Z at the latest
TENANT   QUEUED   HELD   GUARANTEED   LIMIT   AVERAGE   WEIGHT
nlp      3        8      8            16      5300m     2
other    1        0      -            -       0         1
lab/runs, another job make room for lab/owner, until 2026-11-24T17:00:00Z
PLACE        TENANT   NAMESPACE   NAME    GPUS       REASON            START                            AGE
1            other    other       early   16         WaitingForNodes   2026-11-24T18:00:00Z by Bounds   20m
at most 20   nlp      lab         first   2          WaitingForNodes   -                                1m
-            -        lab         late    4 slices   WaitingForNodes   -                                12m
-            -        lab         quota   2          QuotaExceeded     -                                30m
)");
  const auto json = run_command(jobs::make_queue(), "queue lab -o json", &server).out;
  EXPECT_NE(json.find(R"("basis": "Bounds")"), std::string::npos);
  EXPECT_NE(json.find(R"("averageHeld": "5300m")"), std::string::npos);
  EXPECT_NE(json.find(R"("claims": [
        {
            "job": "lab/owner",
            "awaits": [
                "lab/runs",
                null
            ],
            "awaitsUntil": "2026-11-24T17:00:00Z"
        }
    ])"),
            std::string::npos)
      << json;
}

}  // namespace
}  // namespace gpupool
