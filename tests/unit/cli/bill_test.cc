// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "bills/commands.h"
#include "tests/unit/cli/played_server.h"

namespace gpupool {
namespace {

using test::run_command;
using testing::HasSubstr;
using testing::Not;

// One runs on two nodes for an hour and was held before, one has ended, one has never held anything.
constexpr char kBilledJobs[] = R"({"metadata":{"resourceVersion":"7"},"items":[
{"metadata":{"name":"train","namespace":"lab","uid":"u1"},"spec":{},"status":{"phase":"Running",
 "lease":{"id":"u1.1","state":"Running","nodes":[{"name":"a","uid":"1"},{"name":"b","uid":"2"}]},
 "bill":{"currency":"EUR","cost":"1.500000","gpuSeconds":3600,"segmentCount":1,
 "open":[{"from":"2026-01-02T02:04:05Z","pool":"p","currency":"EUR","perGpuHour":"1.2","gpus":4}],
 "segments":[{"number":1,"nodes":["c"],"nodeCount":1,"from":"2026-01-01T00:00:00Z","to":"2026-01-01T01:00:00Z",
 "pool":"p","currency":"EUR","perGpuHour":"1.5","gpus":1,"cost":"1.500000"}]}}},
{"metadata":{"name":"eval","namespace":"lab","uid":"u2"},"spec":{},"status":{"phase":"Succeeded",
 "bill":{"currency":"EUR","cost":"0.250000","gpuSeconds":900,"segmentCount":1}}},
{"metadata":{"name":"waits","namespace":"lab","uid":"u3"},"spec":{},"status":{"phase":"Queued"}}]})";
constexpr char kAccounts[] = R"({"metadata":{"resourceVersion":"7"},"items":[
{"metadata":{"name":"z"},"spec":{"namespaces":["lab"],"currency":"EUR"}},
{"metadata":{"name":"labs"},"spec":{"namespaces":["lab"],"currency":"EUR","budget":{"amount":"500.00"}},
 "status":{"spent":"1.750000","month":"2026-01"}}]})";

test::PlayedServer billing_server(int accounts_code) {
  return test::PlayedServer([accounts_code](const net::HttpRequest& request) {
    if (request.target.find("gpuaccounts") == std::string::npos) return test::answer(200, kBilledJobs);
    return accounts_code == 200
               ? test::answer(200, kAccounts)
               : test::answer(accounts_code,
                              R"({"kind":"Status","status":"Failure","reason":"Forbidden","code":403})");
  });
}

TEST(Bill, CountsWhatIsHeldUntilNow) {
  auto server = billing_server(200);
  const auto ran = run_command(bills::make_bill(), "bill", &server);
  EXPECT_EQ(ran.code, 0);
  EXPECT_EQ(ran.out, R"(NAME    PHASE       GPU-HOURS   COST            AN HOUR
eval    Succeeded   0.250       0.250000 EUR    -
train   Running     9.000       11.100000 EUR   9.600000
Total: 11.350000 EUR
Account labs: 1.750000 of 500.00 EUR spent in 2026-01, by the books
)");
  EXPECT_THAT(ran.err, HasSubstr("--month shows them, by the books"));
}

TEST(Bill, WhoMayNotReadAccountsSeesNone) {
  auto server = billing_server(403);
  const auto ran = run_command(bills::make_bill(), "bill", &server);
  EXPECT_EQ(ran.code, 0);
  EXPECT_THAT(ran.out, HasSubstr("Total: 11.350000 EUR"));
  EXPECT_THAT(ran.out, Not(HasSubstr("Account")));
}

TEST(Bill, FormsForPrograms) {
  auto server = billing_server(200);
  const auto json = run_command(bills::make_bill(), "bill -o json", &server).out;
  EXPECT_THAT(json, HasSubstr(R"("cost": "11.100000")"));
  EXPECT_THAT(json, HasSubstr(R"("gpuSeconds": 32400)"));
  EXPECT_THAT(json, HasSubstr(R"("EUR": "11.350000")"));
  EXPECT_THAT(json, HasSubstr(R"("budget": "500.00")"));
  EXPECT_THAT(run_command(bills::make_bill(), "bill -A", &server).out, HasSubstr("lab         train"));
}

TEST(Bill, OfNothingSaysSo) {
  test::PlayedServer server([](const net::HttpRequest&) {
    return test::answer(200, R"({"metadata":{"resourceVersion":"7"},"items":[]})");
  });
  const auto ran = run_command(bills::make_bill(), "bill", &server);
  EXPECT_EQ(ran.out, "");
  EXPECT_THAT(ran.err, HasSubstr("No job has held anything that has a price"));
}

// The ledger, behind the API server's proxy of services.
test::PlayedServer ledger_server(int code, const std::string& body) {
  return test::PlayedServer([=](const net::HttpRequest& request) {
    if (request.target.find("/services/https:gpupool-ledger:7072/proxy/v1/") == std::string::npos)
      return test::answer(200, kBilledJobs);
    return test::answer(code, body);
  });
}

TEST(Bill, OfAMonthIsThatOfTheBooks) {
  auto server = ledger_server(200, "Bill of namespace lab\nnode \x1b[31mred\r\n");
  const auto ran = run_command(bills::make_bill(), "bill --month 2026-01", &server);
  EXPECT_EQ(ran.code, 0);
  EXPECT_EQ(ran.out, "Bill of namespace lab\nnode  [31mred\n");
  EXPECT_THAT(server.asked().back().target,
              testing::EndsWith("/proxy/v1/namespaces/lab/bill?format=text&month=2026-01"));
  EXPECT_EQ(run_command(bills::make_bill(), "bill --month 2026-01 -A -o csv", &server).code, 0);
  EXPECT_THAT(server.asked().back().target, testing::EndsWith("/proxy/v1/bill?format=csv&month=2026-01"));
  EXPECT_EQ(run_command(bills::make_bill(), "bill train", &server).code, 0);
  EXPECT_THAT(server.asked().back().target,
              testing::EndsWith("/proxy/v1/namespaces/lab/jobs/train/explanation?format=text"));
}

TEST(Bill, OfAMonthForPrograms) {
  auto server = ledger_server(200, R"({"month":"2026-01","totals":{"EUR":"1.500000"}})");
  const auto json = run_command(bills::make_bill(), "bill --month 2026-01 -o json", &server).out;
  EXPECT_THAT(json, HasSubstr(R"("apiVersion": "cli.gpupool.dev/v1")"));
  EXPECT_THAT(json, HasSubstr(R"("EUR": "1.500000")"));
  auto broken = ledger_server(200, "<html>");
  EXPECT_THAT(run_command(bills::make_bill(), "bill --month 2026-01 -o json", &broken).err,
              HasSubstr("is no JSON"));
}

TEST(Bill, WhatDoesNotFitIsRefusedBeforeAnythingIsAsked) {
  auto server = ledger_server(200, "");
  for (const char* words : {"bill --month 2026", "bill -o csv", "bill -o focus", "bill --ledger a/b",
                            "bill train -A", "bill train --month 2026-01", "bill train -o json",
                            "bill --month 2026-01 --ledger x", "bill --month 2026-01 --as somebody"})
    EXPECT_EQ(run_command(bills::make_bill(), words, &server).code, 2) << words;
  for (const char* words : {"payout --machines -o csv", "payout --month x", "payout --ledger /x"})
    EXPECT_EQ(run_command(bills::make_payout(), words, &server).code, 2) << words;
  EXPECT_TRUE(server.asked().empty());
}

TEST(Payout, IsThatOfTheBooks) {
  auto server = ledger_server(200, "Payout of owner al\n");
  EXPECT_EQ(run_command(bills::make_payout(), "payout --owner al/ice --month 2026-01", &server).out,
            "Payout of owner al\n");
  EXPECT_THAT(server.asked().back().target,
              testing::EndsWith("/proxy/v1/owners/al%2Fice/payout?format=text&month=2026-01"));
  EXPECT_EQ(run_command(bills::make_payout(), "payout --machines -o json", &server).code,
            1);  // it is no JSON
  EXPECT_THAT(server.asked().back().target, testing::EndsWith("/proxy/v1/machines?format=json"));
}

TEST(Payout, WhoMayNotReadIsToldTheRight) {
  auto server = ledger_server(403, R"({"error":"you may not read the payout; needed is: verb get"})");
  const auto ran = run_command(bills::make_payout(), "payout --owner bob", &server);
  EXPECT_EQ(ran.code, 1);
  EXPECT_THAT(ran.err, HasSubstr("you may not read the payout; needed is: verb get"));
}

}  // namespace
}  // namespace gpupool
