// SPDX-License-Identifier: Apache-2.0
#include "readers/access.h"

#include <gtest/gtest.h>

#include "tests/unit/web/played_api.h"

namespace gpupool::keeper {
namespace {

using std::chrono::seconds;

TEST(BeganIn, TheUidDecidesWhereItIsKnown) {
  AttemptInfo attempt{.namespace_uid = "one"};
  attempt.begin = base::WallTime(seconds(100));
  EXPECT_TRUE(began_in({"one", base::WallTime(seconds(500))}, attempt));  // a clock is wrong
  EXPECT_FALSE(began_in({"two", base::WallTime(seconds(1))}, attempt));
}

TEST(BeganIn, ElseTheTimesDo) {
  AttemptInfo attempt;
  attempt.begin = base::WallTime(seconds(100));
  EXPECT_TRUE(began_in({"one", base::WallTime(seconds(99))}, attempt));
  EXPECT_FALSE(began_in({"one", base::WallTime(seconds(100))}, attempt));
  EXPECT_FALSE(began_in({"one", base::WallTime(seconds(101))}, attempt));
}

TEST(Access, AnswersAreRememberedByTokenAndNamespace) {
  int reviews = 0;
  test::PlayedApi api([&](const net::HttpRequest& request) {
    ++reviews;
    const bool yes = request.body.find("\"lab\"") != std::string::npos;
    EXPECT_NE(request.body.find(R"("subresource":"log")"), std::string::npos);
    return net::HttpResponse{.status = 201,
                             .body = std::string(R"({"status":{"allowed":)") + (yes ? "true}}" : "false}}")};
  });
  test::PlayedClient own([](const net::HttpRequest&) { return net::HttpResponse{.status = 404}; });
  base::SystemClock clock;
  base::Metrics metrics;
  Access access(api, own.client, std::chrono::seconds(30), clock, metrics);
  EXPECT_TRUE(access.may_read("token", "lab", {}));
  EXPECT_TRUE(access.may_read("token", "lab", {}));
  EXPECT_EQ(reviews, 1);
  EXPECT_TRUE(access.may_read("other", "lab", {}));
  EXPECT_EQ(reviews, 2);
  for (int i = 0; i < 2; ++i) {
    const auto no = access.may_read("token", "theirs", {});
    ASSERT_FALSE(no);
    EXPECT_EQ(no.error().http_status, 403);
  }
  EXPECT_EQ(reviews, 4);  // a right that is given counts at once
}

}  // namespace
}  // namespace gpupool::keeper
