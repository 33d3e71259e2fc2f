// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/v1alpha1/gpu_pool.h"
#include "server/bill_answer.h"
#include "server/token_visitors.h"
#include "server/visitor_key.h"
#include "tests/unit/web/played_api.h"

namespace gpupool::web {
namespace {

net::ServerRequest request_with(std::vector<net::Header> headers) {
  return {.method = "GET", .path = "/api/session", .query = "", .headers = std::move(headers)};
}

TEST(KeyVisitors, OnlyTheKeyOpens) {
  const auto key = new_visitor_key();
  ASSERT_TRUE(key);
  EXPECT_EQ(key->size(), 32U);
  EXPECT_NE(*key, *new_visitor_key());
  test::PlayedClient played([](const net::HttpRequest&) { return net::HttpResponse{.status = 200}; });
  KeyVisitors visitors(*key, played.client, nullptr, "");
  const auto visitor = visitors.of(request_with({{"x-gpupool-key", *key}}));
  ASSERT_TRUE(visitor);
  EXPECT_EQ(visitor->client.get(), &played.client);
  for (const std::string& wrong : {std::string(), key->substr(1), *key + "0", std::string(32, '0')}) {
    const auto no = visitors.of(request_with({{"X-Gpupool-Key", wrong}}));
    ASSERT_FALSE(no);
    EXPECT_EQ(no.error().code, base::ErrorCode::kUnauthorized);
  }
  EXPECT_FALSE(visitors.of(request_with({{"Authorization", "Bearer " + *key}})));
}

TEST(TokenVisitors, TheTokenAndNothingElseIsPassedOn) {
  test::PlayedApi api([](const net::HttpRequest&) { return net::HttpResponse{.status = 200, .body = "{}"}; });
  base::SystemClock clock;
  base::Metrics metrics;
  TokenVisitors visitors("token", {api}, clock, metrics);
  const auto visitor = visitors.of(request_with({{"authorization", "Bearer abc.def-1"},
                                                 {"Impersonate-User", "admin"},
                                                 {"Impersonate-Group", "system:masters"},
                                                 {"Cookie", "a=b"}}));
  ASSERT_TRUE(visitor);
  (void)visitor->client->get(api::GpuPool::kType, {"", "lab"}, {});
  const auto asked = api.asked();
  ASSERT_EQ(asked.size(), 1U);
  bool authorized = false;
  for (const auto& header : asked.front().headers) {
    EXPECT_THAT(header.name, testing::Not(testing::StartsWith("Impersonate")));
    EXPECT_NE(header.name, "Cookie");
    authorized = authorized || (header.name == "Authorization" && header.value == "Bearer abc.def-1");
  }
  EXPECT_TRUE(authorized);
}

TEST(TokenVisitors, TheKeeperGetsTheSameTokenAndNothingElse) {
  test::PlayedApi api([](const net::HttpRequest&) { return net::HttpResponse{.status = 500}; });
  test::PlayedApi keeper([](const net::HttpRequest&) {
    return net::HttpResponse{.status = 200,
                             .body = R"({"attempts":[{"job":"resnet","lease":2,"exitCode":3}]})"};
  });
  base::SystemClock clock;
  base::Metrics metrics;
  TokenVisitors visitors("token", {.api = api, .keeper = &keeper}, clock, metrics);
  const auto visitor =
      visitors.of(request_with({{"Authorization", "Bearer abc"}, {"X-Gpupool-Token", "other"}}));
  ASSERT_TRUE(visitor);
  ASSERT_NE(visitor->kept, nullptr);
  const auto kept = visitor->kept->attempts("lab", "resnet", "u 1", {});
  ASSERT_TRUE(kept) << kept.error().message;
  ASSERT_EQ(kept->size(), 1U);
  EXPECT_EQ(kept->front().lease, 2);
  EXPECT_EQ(kept->front().exit_code, 3);
  EXPECT_TRUE(api.asked().empty());
  ASSERT_EQ(keeper.asked().size(), 1U);
  const auto asked = keeper.asked().front();
  EXPECT_EQ(asked.target, "/v1/namespaces/lab/attempts?job=resnet&uid=u%201");
  for (const auto& header : asked.headers) {
    if (header.name == "Authorization") {
      EXPECT_EQ(header.value, "Bearer abc");
    }
    EXPECT_NE(header.name, "X-Gpupool-Token");
  }
}

TEST(BillJson, TheLedgerIsAskedWithTheVisitorsToken) {
  test::PlayedApi api([](const net::HttpRequest&) { return net::HttpResponse{.status = 500}; });
  test::PlayedApi ledger(
      [](const net::HttpRequest&) { return net::HttpResponse{.status = 200, .body = "{}"}; });
  base::SystemClock clock;
  base::Metrics metrics;
  TokenVisitors visitors("token", {.api = api, .ledger = &ledger}, clock, metrics);
  const auto visitor = visitors.of(request_with({{"Authorization", "Bearer abc"}}));
  ASSERT_TRUE(visitor);
  EXPECT_TRUE(visitor->ledger);
  ASSERT_TRUE(bill_json(*visitor, "namespace=lab%2F..&month=2026-11", {}));
  ASSERT_TRUE(bill_json(*visitor, "namespace=&month=2026-11", {}));
  for (const char* query : {"namespace=lab", "month=2026-13", "month=2026-11%26format=csv", "month=%zz"})
    EXPECT_EQ(bill_json(*visitor, query, {}).error().code, base::ErrorCode::kInvalidArgument) << query;
  EXPECT_TRUE(api.asked().empty());
  const auto asked = ledger.asked();
  ASSERT_EQ(asked.size(), 2U);
  EXPECT_EQ(asked[0].target, "/v1/namespaces/lab%2F../bill?format=json&month=2026-11");
  EXPECT_EQ(asked[1].target, "/v1/bill?format=json&month=2026-11");
  EXPECT_THAT(asked[0].headers,
              testing::Contains(testing::AllOf(testing::Field(&net::Header::name, "Authorization"),
                                               testing::Field(&net::Header::value, "Bearer abc"))));
}

TEST(BillJson, WithoutALedgerThereIsNoBill) {
  test::PlayedClient played([](const net::HttpRequest&) { return net::HttpResponse{.status = 200}; });
  KeyVisitors visitors("key", played.client, nullptr, "");
  const auto visitor = visitors.of(request_with({{"X-Gpupool-Key", "key"}}));
  ASSERT_TRUE(visitor);
  EXPECT_FALSE(visitor->ledger);
  EXPECT_EQ(bill_json(*visitor, "month=2026-11", {}).error().http_status, 404);
}

TEST(BillJson, OnOnesOwnMachineTheApiServerPassesItOn) {
  test::PlayedClient played([](const net::HttpRequest&) {
    return net::HttpResponse{.status = 403, .body = R"({"error":"you may not read the bill"})"};
  });
  KeyVisitors visitors("key", played.client, nullptr, "/services/https:ledger:7072/proxy");
  const auto visitor = visitors.of(request_with({{"X-Gpupool-Key", "key"}}));
  ASSERT_TRUE(visitor);
  const auto bill = bill_json(*visitor, "month=2026-11&namespace=lab", {});
  ASSERT_FALSE(bill);
  EXPECT_EQ(bill.error().http_status, 403);
  EXPECT_THAT(bill.error().message, testing::EndsWith(": you may not read the bill"));
  EXPECT_EQ(played.api.asked().front().target,
            "/services/https:ledger:7072/proxy/v1/namespaces/lab/bill?format=json&month=2026-11");
}

TEST(TokenVisitors, VisitorsAreKnownByTheirToken) {
  test::PlayedApi api([](const net::HttpRequest&) { return net::HttpResponse{.status = 200}; });
  base::SystemClock clock;
  base::Metrics metrics;
  TokenVisitors visitors("token", {api}, clock, metrics);
  const auto id = [&](const std::string& token) {
    return visitors.of(request_with({{"Authorization", "Bearer " + token}}))->id;
  };
  EXPECT_EQ(id("one"), id("one"));
  EXPECT_NE(id("one"), id("two"));
  EXPECT_EQ(id("one").find("one"), std::string::npos);
}

TEST(TokenVisitors, WhatIsNoTokenIsRefused) {
  test::PlayedApi api([](const net::HttpRequest&) { return net::HttpResponse{.status = 200}; });
  base::SystemClock clock;
  base::Metrics metrics;
  TokenVisitors visitors("token", {api}, clock, metrics);
  for (const std::string& value :
       {std::string(), std::string("Bearer "), std::string("Basic YTpi"), std::string("Bearer a b"),
        std::string("Bearer a\r\nX: y"), "Bearer " + std::string(20000, 'a')})
    EXPECT_FALSE(visitors.of(request_with({{"Authorization", value}}))) << value.substr(0, 40);
  EXPECT_FALSE(visitors.of(request_with({{"Impersonate-User", "admin"}})));
}

}  // namespace
}  // namespace gpupool::web
