// SPDX-License-Identifier: Apache-2.0
#include "net/budget_transport.h"

#include <gtest/gtest.h>

namespace gpupool::net {
namespace {

using std::chrono::milliseconds;

// Records the last request.
class Recorder final : public Transport {
 public:
  base::Result<HttpResponse> send(const HttpRequest& request, std::stop_token /*stop*/) override {
    last = request;
    return HttpResponse{.status = 200};
  }
  base::Result<HttpResponse> stream(const HttpRequest& request, const BodySink& sink,
                                    std::stop_token /*stop*/) override {
    last = request;
    sink("piece");
    return HttpResponse{.status = 200};
  }
  std::optional<HttpRequest> last;
};

class BudgetTransportTest : public ::testing::Test {
 protected:
  Recorder inner_;
  std::optional<milliseconds> budget_;
  BudgetTransport transport_{inner_, [this](const HttpRequest& request) {
                               return request.method == "GET" ? std::nullopt : budget_;
                             }};
  HttpRequest write_{.method = "PATCH", .target = "/x", .body = "{}", .timeout = milliseconds(60'000)};
};

TEST_F(BudgetTransportTest, NothingIsNoLimit) {
  EXPECT_TRUE(transport_.send(write_, {}));
  EXPECT_EQ(inner_.last->timeout, milliseconds(60'000));
  EXPECT_EQ(inner_.last->body, "{}");
}

TEST_F(BudgetTransportTest, TheShorterLimitCounts) {
  budget_ = milliseconds(1500);
  EXPECT_TRUE(transport_.send(write_, {}));
  EXPECT_EQ(inner_.last->timeout, milliseconds(1500));
  write_.timeout = milliseconds(100);
  EXPECT_TRUE(transport_.send(write_, {}));
  EXPECT_EQ(inner_.last->timeout, milliseconds(100));
  write_.timeout.reset();
  EXPECT_TRUE(transport_.stream(write_, [](std::string_view) { return true; }, {}));
  EXPECT_EQ(inner_.last->timeout, milliseconds(1500));
}

TEST_F(BudgetTransportTest, WithoutTimeNothingIsSent) {
  for (const auto left : {milliseconds(0), milliseconds(-1)}) {
    budget_ = left;
    EXPECT_EQ(transport_.send(write_, {}).error().code, base::ErrorCode::kCancelled);
    EXPECT_EQ(transport_.stream(write_, [](std::string_view) { return true; }, {}).error().code,
              base::ErrorCode::kCancelled);
    EXPECT_FALSE(inner_.last.has_value());
  }
}

TEST_F(BudgetTransportTest, EachRequestIsAskedFor) {
  budget_ = milliseconds(0);
  EXPECT_TRUE(transport_.send({.method = "GET", .target = "/x"}, {}));
}

}  // namespace
}  // namespace gpupool::net
