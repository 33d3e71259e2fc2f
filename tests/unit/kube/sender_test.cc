// SPDX-License-Identifier: Apache-2.0
#include "kube/sender.h"

#include <gtest/gtest.h>

#include <thread>

#include "tests/support/manual_clock.h"
#include "tests/unit/kube/fake_transport.h"
#include "tests/unit/kube/jumping_clock.h"
#include "tests/unit/kube/test_types.h"

namespace gpupool::kube {
namespace {

using base::ErrorCode;
using namespace std::chrono_literals;

// Returns the tokens in order; each invalidate() moves to the next one.
class ScriptedTokens final : public TokenSource {
 public:
  explicit ScriptedTokens(std::vector<std::string> tokens) : tokens_(std::move(tokens)) {}
  base::Result<std::string> token(std::stop_token) override {
    if (current_ >= tokens_.size()) return base::fail(ErrorCode::kIo, "no more tokens");
    return tokens_[current_];
  }
  void invalidate(const std::string& rejected) override {
    EXPECT_EQ(rejected, tokens_[current_]);
    ++current_;
  }

 private:
  std::vector<std::string> tokens_;
  std::size_t current_ = 0;
};

class SenderTest : public ::testing::Test {
 protected:
  Sender sender(TokenSource* tokens = nullptr, ClientOptions options = {}) {
    return {transport_, tokens, clock_, metrics_, std::move(options)};
  }
  static net::HttpRequest request(const char* method) { return {.method = method, .target = "/x"}; }
  bool exposes(const std::string& line) const { return metrics_.expose().find(line) != std::string::npos; }

  const Call read_{.verb = "get", .type = &test::kPod, .ns = "lab", .name = "a"};
  const Call write_{.verb = "create", .type = &test::kPod, .ns = "lab"};
  test::FakeTransport transport_;
  test::JumpingClock clock_;
  base::Metrics metrics_;
};

TEST_F(SenderTest, AReadIsSentAgainUntilItIsAnswered) {
  transport_.fail(ErrorCode::kTransport);
  transport_.answer(500, "");
  transport_.answer(200, "{}");
  auto client = sender();
  EXPECT_TRUE(client.send(read_, request("GET"), {}).has_value());
  EXPECT_EQ(transport_.sent().size(), 3U);
  EXPECT_EQ(clock_.waits().size(), 2U);
}

TEST_F(SenderTest, AReadGivesUpAfterMaxTries) {
  ClientOptions options;
  options.max_tries = 3;
  auto client = sender(nullptr, options);
  const auto answer = client.send(read_, request("GET"), {});
  ASSERT_FALSE(answer.has_value());
  EXPECT_EQ(answer.error().code, ErrorCode::kTransport);
  EXPECT_EQ(transport_.sent().size(), 3U);
}

TEST_F(SenderTest, AWriteIsNeverSentAgainAfterATransportError) {
  for (const char* method : {"POST", "PATCH", "DELETE"}) {
    const auto before = transport_.sent().size();
    transport_.fail(ErrorCode::kTransport);
    auto client = sender();
    EXPECT_EQ(client.send(write_, request(method), {}).error().code, ErrorCode::kTransport);
    EXPECT_EQ(transport_.sent().size(), before + 1);
  }
}

TEST_F(SenderTest, ARefusedWriteWaitsAsLongAsTheServerSays) {
  transport_.answer(429, "", {{"retry-after", "2"}});
  transport_.answer(201, "{}");
  auto client = sender();
  EXPECT_TRUE(client.send(write_, request("POST"), {}).has_value());
  ASSERT_EQ(clock_.waits().size(), 1U);
  EXPECT_GE(clock_.waits()[0], 2s);
  EXPECT_LT(clock_.waits()[0], 3s);
}

TEST_F(SenderTest, A401IsAnsweredWithANewTokenOnce) {
  ScriptedTokens tokens({"old", "new"});
  transport_.answer(401, "");
  transport_.answer(201, "{}");
  auto client = sender(&tokens);
  EXPECT_TRUE(client.send(write_, request("POST"), {}).has_value());
  ASSERT_EQ(transport_.sent().size(), 2U);
  EXPECT_EQ(test::header(transport_.sent()[0], "Authorization"), "Bearer old");
  EXPECT_EQ(test::header(transport_.sent()[1], "Authorization"), "Bearer new");
}

TEST_F(SenderTest, ASecond401IsAnError) {
  ScriptedTokens tokens({"a", "b", "c"});
  transport_.answer(401, "");
  transport_.answer(401, "");
  auto client = sender(&tokens);
  EXPECT_EQ(client.send(read_, request("GET"), {}).error().code, ErrorCode::kUnauthorized);
  EXPECT_EQ(transport_.sent().size(), 2U);
}

TEST_F(SenderTest, TheSameTokenIsNotTriedTwice) {
  ScriptedTokens tokens({"a", "a"});
  transport_.answer(401, "");
  auto client = sender(&tokens);
  EXPECT_EQ(client.send(read_, request("GET"), {}).error().code, ErrorCode::kUnauthorized);
  EXPECT_EQ(transport_.sent().size(), 1U);
}

TEST_F(SenderTest, ATokenThatCannotBeHadIsAnErrorWithoutARequest) {
  ScriptedTokens tokens({});
  auto client = sender(&tokens);
  const auto answer = client.send(read_, request("GET"), {});
  EXPECT_EQ(answer.error().code, ErrorCode::kIo);
  EXPECT_EQ(answer.error().message, "get Pod lab/a: no more tokens");
  EXPECT_TRUE(transport_.sent().empty());
}

TEST_F(SenderTest, ATokenCannotSmuggleAHeader) {
  ScriptedTokens tokens({"a\r\nImpersonate-User: admin"});
  auto client = sender(&tokens);
  const auto answer = client.send(read_, request("GET"), {});
  ASSERT_FALSE(answer.has_value());
  EXPECT_EQ(answer.error().code, ErrorCode::kInvalidArgument);
  EXPECT_EQ(answer.error().message.find("admin"), std::string::npos);
  EXPECT_TRUE(transport_.sent().empty());
}

TEST_F(SenderTest, Impersonates) {
  ClientOptions options;
  options.impersonate_user = "viewer";
  options.impersonate_groups = {"g1", "g2"};
  transport_.answer(200, "{}");
  auto client = sender(nullptr, options);
  EXPECT_TRUE(client.send(read_, request("GET"), {}).has_value());
  EXPECT_EQ(test::header(transport_.sent()[0], "Impersonate-User"), "viewer");
  EXPECT_EQ(test::header(transport_.sent()[0], "Impersonate-Group"), "g1,g2");
}

TEST_F(SenderTest, KeepsToItsRate) {
  ClientOptions options;
  options.qps = 10;
  options.burst = 2;
  auto client = sender(nullptr, options);
  for (int i = 0; i < 4; ++i) {
    transport_.answer(200, "{}");
    EXPECT_TRUE(client.send(read_, request("GET"), {}).has_value());
  }
  ASSERT_EQ(clock_.waits().size(), 2U);
  EXPECT_EQ(std::chrono::round<std::chrono::milliseconds>(clock_.waits()[0]), 100ms);
}

TEST_F(SenderTest, Counts) {
  transport_.answer(429, "", {{"retry-after", "1"}});
  transport_.answer(201, "{}");
  transport_.fail(ErrorCode::kTransport);
  auto client = sender();
  EXPECT_TRUE(client.send(write_, request("POST"), {}).has_value());
  EXPECT_FALSE(client.send(write_, request("POST"), {}).has_value());
  EXPECT_TRUE(exposes(R"(rest_client_requests_total{code="201",method="POST"} 1)")) << metrics_.expose();
  EXPECT_TRUE(exposes(R"(rest_client_requests_total{code="429",method="POST"} 1)"));
  EXPECT_TRUE(exposes(R"(rest_client_requests_total{code="<error>",method="POST"} 1)"));
  EXPECT_TRUE(exposes(R"(rest_client_request_retries_total{method="POST"} 1)"));
  EXPECT_TRUE(exposes(R"(rest_client_request_duration_seconds_count{verb="create"} 3)"));
}

TEST(SenderStop, AWaitBetweenTriesIsCancelledAtOnce) {
  test::FakeTransport transport;
  test::ManualClock clock;
  base::Metrics metrics;
  transport.answer(500, "");
  Sender sender(transport, nullptr, clock, metrics, {});
  const Call call{.verb = "get", .path = "/x"};
  base::Result<net::HttpResponse> answer;
  std::jthread caller([&](std::stop_token stop) { answer = sender.send(call, {.target = "/x"}, stop); });
  ASSERT_TRUE(clock.wait_for_waiters(1));
  caller.request_stop();
  caller.join();
  ASSERT_FALSE(answer.has_value());
  EXPECT_EQ(answer.error().code, ErrorCode::kCancelled);
  EXPECT_EQ(transport.sent().size(), 1U);
}

}  // namespace
}  // namespace gpupool::kube
