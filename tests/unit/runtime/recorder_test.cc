// SPDX-License-Identifier: Apache-2.0
#include "runtime/events/recorder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

#include "tests/support/manual_clock.h"
#include "tests/unit/runtime/scripted_transport.h"

namespace gpupool::runtime {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;
using testing::HasSubstr;
using testing::StartsWith;

const ObjectReference kJob{.api_version = "gpupool.dev/v1alpha1", .kind = "GpuJob", .key = {"lab", "resnet"}};

class RecorderTest : public ::testing::Test {
 protected:
  // A call that hangs would outlast the stop, because the clock does not advance.
  RecorderTest() { transport_.answer_rest(201, "{}"); }
  void start() {
    runner_ = std::jthread([this](const std::stop_token& stop) { recorder_.run(stop); });
  }
  void record(const std::string& reason = "Started") {
    recorder_.record(kJob, EventType::kNormal, reason, "Start", "all workers run");
  }
  // Waits until the recorder and its time limit wait.
  void wait_until_idle() { ASSERT_TRUE(clock_.wait_for_waiters(2)); }
  std::string expose(const std::string& reason) {
    const auto text = metrics_.expose();
    const auto start = text.find("gpupool_events_dropped_total{reason=\"" + reason + "\"} ");
    const auto value = text.find("} ", start) + 2;
    return text.substr(value, text.find('\n', value) - value);
  }

  test::ManualClock clock_;
  base::Metrics metrics_;
  test::ScriptedTransport transport_;
  kube::Client client_{transport_, nullptr, clock_, metrics_, {.max_tries = 1}};
  EventRecorder recorder_{client_, "gpupool.dev/operator", "pod-1", clock_, metrics_, base::Log::none()};
  std::jthread runner_;
};

TEST_F(RecorderTest, CreatesThenPatchesTheSecondTimeThenOnlyCounts) {
  transport_.answer(201, "{}");
  transport_.answer(200, "{}");
  for (int i = 0; i < 5; ++i) record();
  record("Finished");
  start();
  ASSERT_TRUE(transport_.wait_for_requests(3));
  const auto sent = transport_.sent();
  EXPECT_EQ(sent[0].method, "POST");
  EXPECT_THAT(sent[0].target, HasSubstr("/apis/events.k8s.io/v1/namespaces/lab/events"));
  EXPECT_THAT(sent[0].body, HasSubstr("\"note\":\"all workers run\""));
  EXPECT_EQ(sent[1].method, "PATCH");
  EXPECT_THAT(sent[1].target, StartsWith("/apis/events.k8s.io/v1/namespaces/lab/events/resnet."));
  EXPECT_THAT(sent[1].body, StartsWith("{\"series\":{\"count\":2,"));
  EXPECT_EQ(sent[2].method, "POST");
  EXPECT_THAT(sent[2].body, HasSubstr("\"reason\":\"Finished\""));
}

TEST_F(RecorderTest, ASeriesEndsWithItsFinalCount) {
  transport_.answer(201, "{}");
  transport_.answer(200, "{}");
  for (int i = 0; i < 5; ++i) record();
  start();
  ASSERT_TRUE(transport_.wait_for_requests(2));
  for (int minute = 1; minute <= 6; ++minute) {
    ASSERT_TRUE(clock_.wait_for_deadline(clock_.now() + minutes(1)));
    clock_.advance(minutes(1));
  }
  ASSERT_TRUE(transport_.wait_for_requests(3));
  EXPECT_THAT(transport_.sent()[2].body, StartsWith("{\"series\":{\"count\":5,"));
}

TEST_F(RecorderTest, AnEventThatTheServerForgotIsCreatedAgain) {
  transport_.answer(201, "{}");
  transport_.answer(404, R"({"kind":"Status","status":"Failure","reason":"NotFound","code":404})");
  record();
  record();
  start();
  ASSERT_TRUE(transport_.wait_for_requests(3));
  EXPECT_EQ(transport_.sent()[2].method, "POST");
}

TEST_F(RecorderTest, NamesNeverRepeat) {
  transport_.answer(201, "{}");
  record("A");
  record("B");
  start();
  ASSERT_TRUE(transport_.wait_for_requests(2));
  const auto name = [](const std::string& body) { return body.substr(body.find("\"name\":\"resnet."), 40); };
  EXPECT_NE(name(transport_.sent()[0].body), name(transport_.sent()[1].body));
}

TEST_F(RecorderTest, ALostAnswerIsTriedAgainUnderTheSameName) {
  transport_.fail(base::ErrorCode::kTransport);
  transport_.answer(409, R"({"kind":"Status","status":"Failure","reason":"AlreadyExists","code":409})");
  record();
  start();
  ASSERT_TRUE(clock_.wait_for_deadline(clock_.now() + seconds(10)));
  clock_.advance(seconds(10));
  ASSERT_TRUE(transport_.wait_for_requests(2));
  EXPECT_EQ(transport_.sent()[0].body, transport_.sent()[1].body);
  // The event exists, so the next one is a series.
  transport_.answer(200, "{}");
  record();
  ASSERT_TRUE(transport_.wait_for_requests(3));
  EXPECT_EQ(transport_.sent()[2].method, "PATCH");
  wait_until_idle();
  EXPECT_EQ(expose("failed"), "0");
}

TEST_F(RecorderTest, GivesUpAfterTwelveTries) {
  for (int i = 0; i < 12; ++i) transport_.fail(base::ErrorCode::kTransport);
  record();
  start();
  for (int i = 0; i < 11; ++i) {
    ASSERT_TRUE(clock_.wait_for_deadline(clock_.now() + seconds(10)));
    clock_.advance(seconds(10));
  }
  ASSERT_TRUE(transport_.wait_for_requests(12));
  wait_until_idle();
  EXPECT_EQ(expose("failed"), "1");
}

TEST_F(RecorderTest, ARefusedEventIsDroppedAtOnce) {
  transport_.answer(404, R"({"kind":"Status","status":"Failure","reason":"NotFound","code":404})");
  transport_.answer(403, R"({"kind":"Status","status":"Failure","reason":"Forbidden","code":403})");
  transport_.answer(422, R"({"kind":"Status","status":"Failure","reason":"Invalid","code":422})");
  for (int i = 0; i < 4; ++i) record("R" + std::to_string(i));
  start();
  ASSERT_TRUE(transport_.wait_for_requests(4));
  EXPECT_EQ(expose("failed"), "3");
}

TEST_F(RecorderTest, AClusterScopedObjectsEventsGoWhereTheServerTakesThem) {
  constexpr char kInvalid[] = R"({"kind":"Status","status":"Failure","reason":"Invalid","code":422})";
  const ObjectReference pool{.api_version = "gpupool.dev/v1alpha1", .kind = "GpuPool", .key = {"", "west"}};
  transport_.answer(201, "{}");
  transport_.answer(422, kInvalid);
  for (const char* reason : {"A", "B", "C"}) recorder_.record(pool, EventType::kNormal, reason, "Adopt", "x");
  start();
  ASSERT_TRUE(transport_.wait_for_requests(4));
  const auto sent = transport_.sent();
  EXPECT_THAT(sent[0].target, HasSubstr("/namespaces/default/events"));
  EXPECT_THAT(sent[1].target, HasSubstr("/namespaces/default/events"));
  EXPECT_THAT(sent[2].target, HasSubstr("/namespaces/kube-system/events"));
  EXPECT_THAT(sent[2].body, HasSubstr("\"namespace\":\"kube-system\""));
  EXPECT_THAT(sent[3].target, HasSubstr("/namespaces/kube-system/events"));
}

TEST_F(RecorderTest, AnInvalidEventDoesNotMoveTheOthers) {
  constexpr char kInvalid[] = R"({"kind":"Status","status":"Failure","reason":"Invalid","code":422})";
  const ObjectReference pool{.api_version = "gpupool.dev/v1alpha1", .kind = "GpuPool", .key = {"", "west"}};
  transport_.answer(422, kInvalid);
  transport_.answer(422, kInvalid);
  for (const char* reason : {"A", "B"}) recorder_.record(pool, EventType::kNormal, reason, "Adopt", "x");
  start();
  ASSERT_TRUE(transport_.wait_for_requests(3));
  EXPECT_THAT(transport_.sent()[2].target, HasSubstr("/namespaces/default/events"));
}

TEST_F(RecorderTest, NeverBlocksAndDropsWhatIsTooMuch) {
  for (std::size_t i = 0; i < EventRecorder::kMaxWaiting + 5; ++i) record();
  EXPECT_EQ(expose("queue_full"), "5");
}

TEST_F(RecorderTest, StopSendsWhatWaits) {
  for (int i = 0; i < 3; ++i) transport_.answer(201, "{}");
  start();
  wait_until_idle();
  runner_.request_stop();
  runner_.join();
  for (int i = 0; i < 3; ++i) record("R" + std::to_string(i));
  start();
  runner_.request_stop();
  runner_.join();
  EXPECT_EQ(transport_.sent().size(), 3U);
}

TEST_F(RecorderTest, StopWaitsTwoSecondsForACallAndDropsTheRest) {
  transport_.hang();
  for (int i = 0; i < 3; ++i) record("R" + std::to_string(i));
  start();
  ASSERT_TRUE(transport_.wait_for_requests(1));
  runner_.request_stop();
  ASSERT_TRUE(clock_.wait_for_deadline(clock_.now() + seconds(2)));
  clock_.advance(seconds(2));
  runner_.join();
  EXPECT_EQ(transport_.sent().size(), 1U);
  EXPECT_EQ(expose("failed"), "3");
}

}  // namespace
}  // namespace gpupool::runtime
