// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "kube/client.h"
#include "tests/unit/kube/fake_transport.h"
#include "tests/unit/kube/jumping_clock.h"
#include "tests/unit/kube/test_types.h"

namespace gpupool::kube {
namespace {

using base::ErrorCode;
using test::kPod;

class WatchTest : public ::testing::Test {
 protected:
  base::Result<void> watch(std::size_t enough = 100) {
    return client_.watch(kPod, "lab", {.resource_version = "7"},
                         [&](std::string_view line) {
                           lines_.emplace_back(line);
                           return lines_.size() < enough;
                         },
                         {});
  }

  test::FakeTransport transport_;
  test::JumpingClock clock_;
  base::Metrics metrics_;
  Client client_{transport_, nullptr, clock_, metrics_, {}};
  std::vector<std::string> lines_;
};

TEST_F(WatchTest, HandsOutWholeLines) {
  transport_.pieces({"{\"a\"", ":1}\n{\"b\":2}\n{\"c", "\":3}\n", "{\"cut\":"});
  EXPECT_TRUE(watch().has_value());
  EXPECT_EQ(lines_, (std::vector<std::string>{"{\"a\":1}", "{\"b\":2}", "{\"c\":3}"}));
}

TEST_F(WatchTest, HasNoTotalTimeoutButAnIdleOne) {
  transport_.pieces({});
  EXPECT_TRUE(watch().has_value());
  const auto request = transport_.sent().at(0);
  EXPECT_EQ(
      request.target,
      "/api/v1/namespaces/lab/pods?watch=true&allowWatchBookmarks=true&resourceVersion=7&timeoutSeconds=300");
  EXPECT_FALSE(request.timeout.has_value());
  EXPECT_EQ(request.idle_timeout, std::chrono::seconds(330));
}

TEST_F(WatchTest, EndsWhenTheCallerHasEnough) {
  transport_.pieces({"1\n2\n3\n", "4\n"});
  EXPECT_TRUE(watch(2).has_value());
  EXPECT_EQ(lines_.size(), 2U);
}

TEST_F(WatchTest, ABreakInTheMiddleIsAnErrorAndIsNotRetried) {
  transport_.pieces({"1\n"}, base::fail(ErrorCode::kTransport, "reset"));
  const auto end = watch();
  ASSERT_FALSE(end.has_value());
  EXPECT_EQ(end.error().code, ErrorCode::kTransport);
  EXPECT_EQ(end.error().message, "watch Pod in namespace lab: reset");
  EXPECT_EQ(transport_.sent().size(), 1U);
  EXPECT_NE(metrics_.expose().find(R"(rest_client_requests_total{code="200",method="GET"} 1)"),
            std::string::npos);
}

TEST_F(WatchTest, AnythingButSuccessIsTyped) {
  transport_.answer(410, R"({"kind":"Status","reason":"Expired","code":410,"message":"too old"})");
  EXPECT_EQ(watch().error().code, ErrorCode::kExpired);
  transport_.answer(500, "");
  EXPECT_EQ(watch().error().code, ErrorCode::kServer);
  EXPECT_EQ(transport_.sent().size(), 2U);
  EXPECT_TRUE(lines_.empty());
}

}  // namespace
}  // namespace gpupool::kube
