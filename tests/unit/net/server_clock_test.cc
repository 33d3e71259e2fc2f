// SPDX-License-Identifier: Apache-2.0
#include "net/server_clock.h"

#include <gtest/gtest.h>

#include "tests/support/manual_clock.h"

namespace gpupool::net {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;

constexpr char kSameTime[] = "Fri, 02 Jan 2026 03:04:05 GMT";  // ManualClock::kWallStart
constexpr char kTenMinutesLater[] = "Fri, 02 Jan 2026 03:14:05 GMT";
constexpr char kTenMinutesEarlier[] = "Fri, 02 Jan 2026 02:54:05 GMT";

// Answers with this date, after this time.
class Server final : public Transport {
 public:
  explicit Server(test::ManualClock& clock) : clock_(clock) {}
  base::Result<HttpResponse> send(const HttpRequest& /*request*/, std::stop_token /*stop*/) override {
    clock_.advance(takes);
    HttpResponse answer{.status = 200};
    if (!date.empty()) answer.headers["date"] = date;
    return answer;
  }
  base::Result<HttpResponse> stream(const HttpRequest& request, const BodySink& /*sink*/,
                                    std::stop_token stop) override {
    return send(request, std::move(stop));
  }
  std::string date;
  base::Duration takes{};

 private:
  test::ManualClock& clock_;
};

class ServerClockTest : public ::testing::Test {
 protected:
  seconds ahead() const { return std::chrono::round<seconds>(clock_.wall() - local_.wall()); }
  void ask(const std::string& date, base::Duration takes = {}) {
    server_.date = date;
    server_.takes = takes;
    ASSERT_TRUE(transport_.send({}, {}));
  }

  test::ManualClock local_;
  ServerClock clock_{local_};
  Server server_{local_};
  DatedTransport transport_{server_, clock_};
};

TEST_F(ServerClockTest, BeforeAnyAnswerIsTheMachines) { EXPECT_EQ(ahead(), seconds(0)); }

TEST_F(ServerClockTest, FollowsTheServerInBothDirections) {
  ask(kTenMinutesLater);
  EXPECT_EQ(ahead(), minutes(10));
  ask(kTenMinutesEarlier);
  EXPECT_EQ(ahead(), -minutes(10));
}

TEST_F(ServerClockTest, SteadyTimeIsTheMachines) {
  ask(kTenMinutesLater);
  EXPECT_EQ(clock_.now(), local_.now());
}

TEST_F(ServerClockTest, ASmallDifferenceIsNone) {
  ask(kSameTime, seconds(2));
  EXPECT_EQ(ahead(), seconds(0));
  local_.advance(seconds(2));
  ask(kSameTime);
  EXPECT_EQ(ahead(), seconds(0));
}

TEST_F(ServerClockTest, DoesNotTremble) {
  ask(kTenMinutesLater);
  local_.advance(seconds(3));
  ask(kTenMinutesLater);
  EXPECT_EQ(ahead(), minutes(10));
}

TEST_F(ServerClockTest, AMachineThatWasPutRightIsItselfAgain) {
  ask(kTenMinutesLater);
  local_.advance(minutes(10));
  ask(kTenMinutesLater);
  EXPECT_EQ(ahead(), seconds(0));
}

TEST_F(ServerClockTest, ALateAnswerSaysNothing) {
  ask(kTenMinutesLater, seconds(3));
  EXPECT_EQ(ahead(), seconds(0));
}

TEST_F(ServerClockTest, RubbishAndNothingSayNothing) {
  for (const auto* date : {"", "yesterday", "Fri, 99 Foo 2026 03:14:05 GMT", "0"}) {
    ask(date);
    EXPECT_EQ(ahead(), seconds(0)) << date;
  }
}

// A list shows the current time; a watch ends long after its Date.
TEST_F(ServerClockTest, OnlyAShortStreamSaysSomething) {
  const auto stream = [&](base::Duration takes) {
    server_.date = kTenMinutesLater;
    server_.takes = takes;
    ASSERT_TRUE(transport_.stream({}, [](std::string_view) { return true; }, {}));
  };
  stream(minutes(5));
  EXPECT_EQ(ahead(), seconds(0));
  stream(seconds(1));
  EXPECT_EQ(ahead(), minutes(5) - seconds(1));
}

}  // namespace
}  // namespace gpupool::net
