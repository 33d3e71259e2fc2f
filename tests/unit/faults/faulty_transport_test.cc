// SPDX-License-Identifier: Apache-2.0
#include "faults/faulty_transport.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

#include "tests/support/manual_clock.h"
#include "tests/unit/faults/server.h"

namespace gpupool::faults {
namespace {

using base::ErrorCode;
using testing::ElementsAre;
using testing::HasSubstr;

const net::HttpRequest kGetNode{.target = "/api/v1/nodes/a"};
const net::HttpRequest kListNodes{.target = "/api/v1/nodes?resourceVersion=0"};
const net::HttpRequest kCreateJob{.method = "POST", .target = "/jobs", .body = "{}"};
const net::HttpRequest kPatchNode{.method = "PATCH", .target = "/api/v1/nodes/a", .body = "{}"};
const net::HttpRequest kWatchNodes{.target = "/api/v1/nodes?watch=true"};

class FaultyTransportTest : public ::testing::Test {
 protected:
  // Sends the request with this fault.
  base::Result<net::HttpResponse> send(Fault fault, const net::HttpRequest& request) {
    FaultPlan plan({.seed = 5, .rate = 1, .kinds = {fault}});
    FaultyTransport transport(server_, plan, clock_, metrics_, base::Log::none());
    std::optional<base::Result<net::HttpResponse>> answer;
    std::jthread caller([&] { answer = transport.send(request, {}); });
    if (waits_) {
      EXPECT_TRUE(clock_.wait_for_waiters(1));
      EXPECT_TRUE(clock_.advance_to_next_deadline());
    }
    caller.join();
    return *answer;
  }
  base::Result<net::HttpResponse> watch(Fault fault) {
    FaultPlan plan({.seed = 5, .rate = 1, .kinds = {fault}});
    FaultyTransport transport(server_, plan, clock_, metrics_, base::Log::none());
    return transport.stream(kWatchNodes,
                            [this](std::string_view piece) {
                              if (piece.size() < 1000) seen_.emplace_back(piece);
                              bytes_ += piece.size();
                              return true;
                            },
                            {});
  }
  base::Result<net::HttpResponse> list(Fault fault) {
    FaultPlan plan({.seed = 5, .rate = 1, .kinds = {fault}});
    FaultyTransport transport(server_, plan, clock_, metrics_, base::Log::none());
    return transport.stream(kListNodes, [this](std::string_view piece) { return listed_ += piece, true; },
                            {});
  }
  void expect_refusal(Fault fault, const net::HttpRequest& request, int status, const std::string& text) {
    const auto answer = send(fault, request);
    ASSERT_TRUE(answer);
    EXPECT_EQ(answer->status, status);
    EXPECT_THAT(answer->body, HasSubstr(text));
    EXPECT_EQ(server_.served, 0) << "it did nothing";
  }

  test::Server server_;
  test::ManualClock clock_;
  base::Metrics metrics_;
  bool waits_ = false;
  std::vector<std::string> seen_;
  std::size_t bytes_ = 0;
  std::string listed_;
};

TEST_F(FaultyTransportTest, WithoutAFaultNothingChanges) {
  FaultPlan plan({});
  FaultyTransport transport(server_, plan, clock_, metrics_, base::Log::none());
  EXPECT_EQ(transport.send(kGetNode, {})->body, server_.body);
  std::string all;
  EXPECT_TRUE(transport.stream(kWatchNodes,
                               [&](std::string_view piece) {
                                 all += piece;
                                 return true;
                               },
                               {}));
  EXPECT_EQ(all, server_.pieces[0] + server_.pieces[1] + server_.pieces[2]);
}

TEST_F(FaultyTransportTest, WhatTheServerRefusesItDoesNotDo) {
  EXPECT_EQ(send(Fault::kRefused, kPatchNode).error().code, ErrorCode::kTransport);
  EXPECT_EQ(server_.served, 0);
  expect_refusal(Fault::kConflict, kPatchNode, 409, "\"Conflict\"");
  expect_refusal(Fault::kExpired, kListNodes, 410, "\"Expired\"");
  expect_refusal(Fault::kGone, kListNodes, 410, "\"Gone\"");
  expect_refusal(Fault::kThrottled, kGetNode, 429, "\"TooManyRequests\"");
  EXPECT_EQ(send(Fault::kThrottled, kGetNode)->headers.at("retry-after"), "1");
  expect_refusal(Fault::kThrottledBare, kGetNode, 429, "html");
  EXPECT_FALSE(send(Fault::kThrottledBare, kGetNode)->headers.contains("retry-after"));
  expect_refusal(Fault::kInternal, kCreateJob, 500, "\"InternalError\"");
  expect_refusal(Fault::kInternalBare, kCreateJob, 500, "");
  expect_refusal(Fault::kUnavailable, kGetNode, 503, "\"ServiceUnavailable\"");
  expect_refusal(Fault::kUnauthorized, kGetNode, 401, "\"Unauthorized\"");
}

TEST_F(FaultyTransportTest, AnAnswerIsLostAfterTheServerDidIt) {
  EXPECT_EQ(send(Fault::kReset, kCreateJob).error().code, ErrorCode::kTransport);
  EXPECT_EQ(send(Fault::kCut, kCreateJob).error().code, ErrorCode::kTransport);
  EXPECT_EQ(send(Fault::kExists, kCreateJob)->status, 409);
  EXPECT_EQ(send(Fault::kServerTimeout, kPatchNode)->status, 504);
  EXPECT_EQ(send(Fault::kGatewayTimeout, kPatchNode)->status, 504);
  waits_ = true;
  EXPECT_EQ(send(Fault::kStall, kPatchNode).error().code, ErrorCode::kTimeout);
  EXPECT_EQ(server_.served, 6);
}

TEST_F(FaultyTransportTest, AnAnswerIsShort) {
  const auto answer = send(Fault::kTruncated, kGetNode);
  EXPECT_LT(answer->body.size(), server_.body.size());
  EXPECT_TRUE(server_.body.starts_with(answer->body));
}

TEST_F(FaultyTransportTest, AnAnswerIsLate) {
  waits_ = true;
  EXPECT_EQ(send(Fault::kSlow, kGetNode)->body, server_.body);
  EXPECT_EQ(send(Fault::kStaleList, kListNodes)->body, server_.body);
}

TEST_F(FaultyTransportTest, AWatchEnds) {
  EXPECT_TRUE(watch(Fault::kClosed));
  EXPECT_TRUE(seen_.empty());
  EXPECT_EQ(watch(Fault::kReset).error().code, ErrorCode::kTransport);
  EXPECT_TRUE(watch(Fault::kCutLine));
  EXPECT_THAT(seen_, ElementsAre(testing::Not(testing::EndsWith("\n"))));
}

TEST_F(FaultyTransportTest, AWatchSaysGone) {
  EXPECT_TRUE(watch(Fault::kExpiredEvent));
  EXPECT_THAT(seen_, ElementsAre(testing::AllOf(HasSubstr(R"("type":"ERROR")"), HasSubstr("\"Expired\""))));
  seen_.clear();
  EXPECT_TRUE(watch(Fault::kGoneEvent));
  EXPECT_THAT(seen_, ElementsAre(HasSubstr("\"Gone\"")));
}

TEST_F(FaultyTransportTest, AWatchRepeatsItself) {
  EXPECT_TRUE(watch(Fault::kDuplicate));
  EXPECT_THAT(seen_, ElementsAre("{\"type\":\"ADDED\"}\n", "{\"type\":\"ADDED\"}\n",
                                 "{\"type\":\"MODIFIED\"}\n", "{\"type\":\"MODIFIED\"}\n",
                                 "{\"type\":\"DELETED\"}\n", "{\"type\":\"DELETED\"}\n"));
}

TEST_F(FaultyTransportTest, AWatchIsUnreadable) {
  EXPECT_TRUE(watch(Fault::kBrokenLine));
  ASSERT_EQ(seen_.size(), 3U);
  EXPECT_LT(seen_[0].size(), 17U);
  EXPECT_EQ(seen_[0].back(), '\n');
  EXPECT_TRUE(watch(Fault::kHugeLine));
  EXPECT_GT(bytes_, 20'000'000U);
}

TEST_F(FaultyTransportTest, AWatchComesByteByByte) {
  EXPECT_TRUE(watch(Fault::kSlow));
  ASSERT_EQ(seen_.size(), bytes_);
  EXPECT_EQ(seen_[0], "{");
}

TEST_F(FaultyTransportTest, AListThatStreamsIsCutInTheMiddleOrRefused) {
  EXPECT_EQ(list(Fault::kCut).error().code, ErrorCode::kTransport);
  EXPECT_LT(listed_.size(), server_.body.size());
  EXPECT_TRUE(!listed_.empty() && server_.body.starts_with(listed_)) << listed_;
  const auto cut = std::exchange(listed_, {});
  EXPECT_TRUE(list(Fault::kTruncated));
  EXPECT_EQ(std::exchange(listed_, {}), cut);
  EXPECT_EQ(list(Fault::kExpired)->status, 410);
  EXPECT_EQ(list(Fault::kReset).error().code, ErrorCode::kTransport);
  EXPECT_EQ(listed_, "");
}

TEST_F(FaultyTransportTest, FaultsAreCounted) {
  send(Fault::kReset, kGetNode);
  EXPECT_THAT(metrics_.expose(), HasSubstr("gpupool_faults_injected_total{kind=\"reset\"} 1"));
}

}  // namespace
}  // namespace gpupool::faults
