// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kube/client.h"
#include "tests/unit/kube/fake_transport.h"
#include "tests/unit/kube/jumping_clock.h"
#include "tests/unit/kube/test_types.h"

namespace gpupool::kube {
namespace {

using base::ErrorCode;
using test::kPod;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class ListItemsTest : public ::testing::Test {
 protected:
  base::Result<std::string> list(Client& client, const ListOptions& options = {}) {
    return client.list_items(kPod, "lab", options, [&](std::string_view item) { items_.emplace_back(item); },
                             {});
  }
  base::Result<std::string> list() { return list(client_); }

  test::FakeTransport transport_;
  test::JumpingClock clock_;
  base::Metrics metrics_;
  Client client_{transport_, nullptr, clock_, metrics_, {}};
  std::vector<std::string> items_;
};

TEST_F(ListItemsTest, HandsOutEachItemAndTheVersion) {
  transport_.pieces({R"({"metadata":{"resource)", R"(Version":"7"},"items":[{"a")", R"(:1},{"b":2}]})"});
  EXPECT_EQ(list(client_, {.label_selector = "a=b", .resource_version = "5"}), "7");
  EXPECT_THAT(items_, ElementsAre(R"({"a":1})", R"({"b":2})"));
  const auto request = transport_.sent().at(0);
  EXPECT_EQ(request.target, "/api/v1/namespaces/lab/pods?labelSelector=a%3Db&resourceVersion=5");
  EXPECT_EQ(request.idle_timeout, std::chrono::seconds(60));
  EXPECT_EQ(request.timeout, std::chrono::minutes(10));
}

TEST_F(ListItemsTest, ATableIsAskedForWithoutItsObjects) {
  transport_.pieces({R"({"kind":"Table","columnDefinitions":[{"name":"Name"}],"ro)",
                     R"(ws":[{"cells":["a"]},{"ce)", R"(lls":["b"]}]})"});
  const auto table = client_.list_table(kPod, "", {.resource_version = "0"},
                                        [&](std::string_view row) { items_.emplace_back(row); }, {});
  EXPECT_EQ(table, R"({"kind":"Table","columnDefinitions":[{"name":"Name"}],"rows":[]})");
  EXPECT_THAT(items_, ElementsAre(R"({"cells":["a"]})", R"({"cells":["b"]})"));
  const auto request = transport_.sent().at(0);
  EXPECT_EQ(request.target, "/api/v1/pods?resourceVersion=0&includeObject=None");
  EXPECT_EQ(request.headers.at(0).value, "application/json;as=Table;v=v1;g=meta.k8s.io");
  transport_.pieces({R"({"items":[{"a":1}],"metadata":{"resourceVersion":"7"}})"});
  EXPECT_TRUE(client_.list_table(kPod, "lab", {}, [](std::string_view) { FAIL(); }, {}));
  EXPECT_EQ(transport_.sent().at(1).target, "/api/v1/namespaces/lab/pods?includeObject=None");
}

TEST_F(ListItemsTest, AListThatBreaksOffIsAnErrorAndIsNotSentAgain) {
  transport_.pieces({R"({"metadata":{"resourceVersion":"7"},"items":[{}]})"},
                    base::fail(ErrorCode::kTransport, "reset"));
  const auto end = list();
  ASSERT_FALSE(end);
  EXPECT_EQ(end.error().code, ErrorCode::kTransport);
  EXPECT_EQ(end.error().message, "list Pod in namespace lab: reset");
  EXPECT_EQ(transport_.sent().size(), 1U);
}

TEST_F(ListItemsTest, AShortListIsNeverAList) {
  const std::string whole = R"({"items":[{"a":1},{"b":2}],"metadata":{"resourceVersion":"7"}})";
  for (std::size_t length = 0; length < whole.size(); ++length) {
    transport_.pieces({whole.substr(0, length)});
    EXPECT_EQ(list().error().code, ErrorCode::kParse) << length;
  }
  transport_.pieces({whole});
  EXPECT_EQ(list(), "7");
}

TEST_F(ListItemsTest, APageIsNotTheList) {
  transport_.pieces({R"({"items":[{}],"metadata":{"resourceVersion":"7","continue":"more"}})"});
  EXPECT_THAT(list().error().message, HasSubstr("a page"));
}

TEST_F(ListItemsTest, WhatIsNoListWithAVersionIsAnError) {
  for (const auto* body :
       {"{}", R"({"kind":"Status","metadata":{}})", R"({"items":{},"metadata":{"resourceVersion":"7"}})",
        R"({"items":"x","metadata":{"resourceVersion":"7"}})", "<html>"}) {
    transport_.pieces({body});
    EXPECT_EQ(list().error().code, ErrorCode::kParse) << body;
  }
  transport_.pieces({R"({"items":null,"metadata":{"resourceVersion":"7"}})"});
  EXPECT_EQ(list(), "7");
  EXPECT_THAT(items_, IsEmpty());
}

TEST_F(ListItemsTest, ARefusalIsTyped) {
  transport_.answer(410, R"({"kind":"Status","reason":"Expired","code":410,"message":"too old"})");
  EXPECT_EQ(list().error().code, ErrorCode::kExpired);
  transport_.answer(403, R"({"kind":"Status","reason":"Forbidden","code":403,"message":"no"})");
  EXPECT_EQ(list().error().code, ErrorCode::kForbidden);
}

TEST_F(ListItemsTest, IsARequestAsOthers) {
  ClientOptions options;
  options.qps = 10;
  Client slow(transport_, nullptr, clock_, metrics_, options);
  for (int i = 0; i < 3; ++i) {
    transport_.pieces({R"({"items":[],"metadata":{"resourceVersion":"7"}})"});
    EXPECT_TRUE(list(slow));
  }
  EXPECT_EQ(clock_.waits().size(), 2U);
  EXPECT_THAT(metrics_.expose(), HasSubstr(R"(rest_client_request_duration_seconds_count{verb="list"} 3)"));
  EXPECT_THAT(metrics_.expose(), HasSubstr(R"(rest_client_requests_total{code="200",method="GET"} 3)"));
}

}  // namespace
}  // namespace gpupool::kube
