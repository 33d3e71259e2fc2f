// SPDX-License-Identifier: Apache-2.0
#include "report/publisher.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

#include "tests/support/manual_clock.h"
#include "tests/unit/device-plugin/report/facts.h"
#include "tests/unit/runtime/scripted_transport.h"

namespace gpupool::report {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::HasSubstr;
using testing::Not;

constexpr char kNode[] = R"({"metadata":{"name":"na","uid":"uid-1"}})";
constexpr char kNotFound[] = R"({"kind":"Status","status":"Failure","reason":"NotFound","code":404})";
constexpr char kConflict[] = R"({"kind":"Status","status":"Failure","reason":"Conflict","code":409})";

std::string gpu_node(const std::string& version, const std::string& owner = "uid-1") {
  return R"({"metadata":{"name":"na","resourceVersion":")" + version +
         R"(","ownerReferences":[{"kind":"Node","name":"na","uid":")" + owner + R"("}]}})";
}

class PublisherTest : public ::testing::Test {
 protected:
  void start() {
    runner_ = std::jthread([this](const std::stop_token& stop) { publisher_.run(stop); });
  }
  // Starts with an object that is there, and its first report written.
  void start_written() {
    transport_.answer(200, kNode);
    transport_.answer(200, gpu_node("1"));
    transport_.answer(200, gpu_node("2"));
    publisher_.offer(test::facts(1, 10));
    start();
    ASSERT_TRUE(transport_.wait_for_requests(3));
    ASSERT_TRUE(clock_.wait_for_waiters(1));
  }
  void offer_use(const std::string& slice) {
    auto facts = test::facts(1, 10);
    facts.holdings = {test::holding("pod", {slice})};
    publisher_.offer(facts);
  }
  // Moves on by `by` once the publisher waits for exactly that moment.
  void pass(base::Duration by) {
    ASSERT_TRUE(clock_.wait_for_deadline(clock_.now() + by));
    clock_.advance(by);
  }
  std::string call(std::size_t index) {
    const auto sent = transport_.sent();
    return sent.at(index).method + " " + sent.at(index).target;
  }
  std::string body(std::size_t index) { return transport_.sent().at(index).body; }

  test::ManualClock clock_;
  base::SteadyTime start_ = clock_.now();
  base::Metrics metrics_;
  test::ScriptedTransport transport_;
  kube::Client client_{transport_, nullptr, clock_, metrics_, {.max_tries = 1}};
  Publisher publisher_{client_, {.node = "na", .plugin_version = "1"}, clock_, metrics_, base::Log::none()};
  std::jthread runner_;
};

TEST_F(PublisherTest, MakesTheObjectOwnedByTheNodeAndWritesItsStatus) {
  transport_.answer(200, kNode);
  transport_.answer(404, kNotFound);
  transport_.answer(201, gpu_node("5"));
  transport_.answer(200, gpu_node("6"));
  publisher_.offer(test::facts(1, 10));
  start();
  ASSERT_TRUE(transport_.wait_for_requests(4));
  EXPECT_EQ(call(0), "GET /api/v1/nodes/na");
  EXPECT_EQ(call(1), "GET /apis/gpupool.dev/v1alpha1/gpunodes/na");
  EXPECT_THAT(call(2), HasSubstr("POST /apis/gpupool.dev/v1alpha1/gpunodes"));
  EXPECT_THAT(body(2), HasSubstr(R"("uid":"uid-1")"));
  EXPECT_THAT(call(3), HasSubstr("PATCH /apis/gpupool.dev/v1alpha1/gpunodes/na/status"));
  EXPECT_THAT(body(3), HasSubstr(R"("resourceVersion":"5")"));
  EXPECT_THAT(body(3), HasSubstr(R"("lastReport":"2026-01-02T03:04:05Z")"));
  EXPECT_THAT(body(3), HasSubstr(R"("lastTransitionTime":"2026-01-02T03:04:05Z")"));
}

TEST_F(PublisherTest, WaitsForTheFirstFacts) {
  start();
  ASSERT_TRUE(clock_.wait_for_waiters(1));
  clock_.advance(seconds(600));
  ASSERT_TRUE(clock_.wait_for_waiters(1));
  EXPECT_TRUE(transport_.sent().empty());
}

TEST_F(PublisherTest, WritesAChangeWithTheVersionOfTheLastWrite) {
  start_written();
  clock_.advance(seconds(5));
  transport_.answer(200, gpu_node("3"));
  offer_use("0::1");
  ASSERT_TRUE(transport_.wait_for_requests(4));
  EXPECT_THAT(body(3), HasSubstr(R"("resourceVersion":"2")"));
  EXPECT_THAT(body(3), HasSubstr(R"("free":9)"));
  // The state did not change with it, so neither did the time since when it holds.
  EXPECT_THAT(body(3), HasSubstr(R"("lastTransitionTime":"2026-01-02T03:04:05Z")"));
  EXPECT_THAT(body(3), HasSubstr(R"("lastReport":"2026-01-02T03:04:10Z")"));
}

TEST_F(PublisherTest, NeverWritesFasterThanOnceASecondAndThenTheNewest) {
  start_written();
  transport_.answer(200, gpu_node("3"));
  offer_use("0::1");
  ASSERT_TRUE(clock_.wait_for_deadline(clock_.now() + seconds(1)));
  clock_.advance(milliseconds(999));
  auto facts = test::facts(1, 10);
  facts.holdings = {test::holding("pod", {"0::1", "0::2", "0::3"})};
  publisher_.offer(facts);
  EXPECT_EQ(transport_.sent().size(), 3U);
  pass(milliseconds(1));
  ASSERT_TRUE(transport_.wait_for_requests(4));
  EXPECT_THAT(body(3), HasSubstr(R"("free":7)"));
  EXPECT_EQ(transport_.sent().size(), 4U);
}

TEST_F(PublisherTest, EqualFactsAreNoNewsButAreRefreshedWithinAMinute) {
  start_written();
  for (int i = 0; i < 3; ++i) {
    ASSERT_TRUE(clock_.wait_for_deadline(start_ + seconds(50)));
    publisher_.offer(test::facts(1, 10));
    clock_.advance(seconds(2));
  }
  EXPECT_EQ(transport_.sent().size(), 3U);
  transport_.answer(200, gpu_node("3"));
  ASSERT_TRUE(clock_.wait_for_deadline(start_ + seconds(50)));
  clock_.advance(seconds(44));
  ASSERT_TRUE(transport_.wait_for_requests(4));
  EXPECT_THAT(body(3), HasSubstr(R"("lastReport":"2026-01-02T03:04:55Z")"));
}

TEST_F(PublisherTest, TelemetryGoesWithTheReportsAndIsNeverAReasonForOne) {
  start_written();
  EXPECT_THAT(body(2), Not(HasSubstr("utilizationPercent")));
  auto facts = test::facts(1, 10);
  for (int percent = 1; percent < 50; ++percent) {
    ASSERT_TRUE(clock_.wait_for_deadline(start_ + seconds(50)));
    facts.telemetry = test::telemetry({percent});
    publisher_.offer(facts);
    clock_.advance(seconds(1));
  }
  EXPECT_EQ(transport_.sent().size(), 3U);
  transport_.answer(200, gpu_node("3"));
  pass(seconds(1));
  ASSERT_TRUE(transport_.wait_for_requests(4));
  EXPECT_THAT(body(3), HasSubstr(R"("utilizationPercent":49)")) << "the newest";
  // A change of something else takes it along.
  ASSERT_TRUE(clock_.wait_for_deadline(start_ + seconds(100)));
  clock_.advance(seconds(7));
  transport_.answer(200, gpu_node("4"));
  facts.holdings = {test::holding("pod", {"0::1"})};
  facts.telemetry = test::telemetry({99});
  publisher_.offer(facts);
  ASSERT_TRUE(transport_.wait_for_requests(5));
  EXPECT_THAT(body(4), HasSubstr(R"("utilizationPercent":99)"));
}

TEST_F(PublisherTest, ReadsAgainAfterAConflict) {
  start_written();
  transport_.answer(409, kConflict);
  transport_.answer(200, kNode);
  transport_.answer(200, gpu_node("8"));
  transport_.answer(200, gpu_node("9"));
  clock_.advance(seconds(1));
  offer_use("0::1");
  ASSERT_TRUE(transport_.wait_for_requests(7));
  EXPECT_THAT(body(6), HasSubstr(R"("resourceVersion":"8")"));
}

TEST_F(PublisherTest, MakesADeletedObjectAgain) {
  start_written();
  transport_.answer(404, kNotFound);
  transport_.answer(200, kNode);
  transport_.answer(404, kNotFound);
  transport_.answer(201, gpu_node("8"));
  transport_.answer(200, gpu_node("9"));
  clock_.advance(seconds(1));
  offer_use("0::1");
  ASSERT_TRUE(transport_.wait_for_requests(8));
  EXPECT_THAT(call(6), HasSubstr("POST"));
  EXPECT_THAT(body(7), HasSubstr(R"("free":9)"));
}

TEST_F(PublisherTest, ANodeThatCameBackUnderItsNameGetsTheObject) {
  transport_.answer(200, kNode);
  transport_.answer(200, gpu_node("1", "uid-0"));
  transport_.answer(200, gpu_node("2"));
  transport_.answer(200, gpu_node("3"));
  publisher_.offer(test::facts(1, 10));
  start();
  ASSERT_TRUE(transport_.wait_for_requests(4));
  EXPECT_THAT(body(2), HasSubstr(R"("uid":"uid-1")"));
  EXPECT_THAT(call(2), Not(HasSubstr("/status")));
  EXPECT_THAT(body(3), HasSubstr(R"("resourceVersion":"2")"));
}

TEST_F(PublisherTest, TriesAgainEverMoreSlowlyWithoutAServer) {
  for (int i = 0; i < 4; ++i) transport_.fail(base::ErrorCode::kTransport);
  publisher_.offer(test::facts(1, 10));
  start();
  std::vector<base::Duration> waited;
  for (std::size_t tries = 1; tries <= 3; ++tries) {
    ASSERT_TRUE(transport_.wait_for_requests(tries));
    ASSERT_TRUE(clock_.wait_for_waiters(1));
    const auto before = clock_.now();
    ASSERT_TRUE(clock_.advance_to_next_deadline());
    ASSERT_TRUE(transport_.wait_for_requests(tries + 1));
    waited.push_back(clock_.now() - before);
  }
  EXPECT_GE(waited[0], seconds(1));
  EXPECT_GT(waited[1], waited[0]);
  EXPECT_GT(waited[2], waited[1]);
  EXPECT_LE(waited[2], seconds(36));
  EXPECT_THAT(metrics_.expose(), HasSubstr(R"(gpupool_plugin_reports_total{result="error"} )"));
}

TEST_F(PublisherTest, ACallThatHangsNeitherBlocksOffersNorTheEnd) {
  transport_.hang();
  publisher_.offer(test::facts(1, 10));
  start();
  ASSERT_TRUE(transport_.wait_for_requests(1));
  for (int i = 0; i < 100; ++i) offer_use("0::1");
  runner_.request_stop();
  runner_.join();
  EXPECT_EQ(transport_.sent().size(), 1U);
}

}  // namespace
}  // namespace gpupool::report
