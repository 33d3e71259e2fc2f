// SPDX-License-Identifier: Apache-2.0
#include "runtime/watch/reflector.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

#include "tests/support/manual_clock.h"
#include "tests/unit/runtime/config_map.h"
#include "tests/unit/runtime/scripted_transport.h"

namespace gpupool::runtime {
namespace {

using base::ErrorCode;
using testing::ElementsAre;
using testing::HasSubstr;

// A list at version 10.
std::string list(const std::string& items = "") {
  return R"({"items":[)" + items + R"(],"metadata":{"resourceVersion":"10"}})";
}

// Records what it gets.
class Notes final : public ReflectorSink {
 public:
  base::Result<void> item(std::string_view text) override {
    note(std::string(text));
    if (text == R"({"broken":1})") return base::fail(ErrorCode::kParse, "broken item");
    return {};
  }
  void abandon() override { note("abandon"); }
  void commit() override {
    note("commit");
    if (on_commit) on_commit();
  }
  base::Result<std::string> event(std::string_view type, std::string_view line) override {
    note(std::string(type));
    if (line.find("broken") != std::string_view::npos) return base::fail(ErrorCode::kParse, "broken object");
    return std::string("11");
  }
  std::vector<std::string> all() const {
    const std::scoped_lock lock(mutex_);
    return notes_;
  }
  std::function<void()> on_commit;

 private:
  void note(std::string text) {
    const std::scoped_lock lock(mutex_);
    notes_.push_back(std::move(text));
  }
  mutable std::mutex mutex_;
  std::vector<std::string> notes_;
};

class ReflectorTest : public ::testing::Test {
 protected:
  // Runs until this number of requests was sent, then stops; the last request hangs.
  void run_until(std::size_t requests) {
    std::jthread thread([this](const std::stop_token& stop) { reflector_.run(stop); });
    EXPECT_TRUE(transport_.wait_for_requests(requests));
  }
  // The same, with this number of pauses in between.
  void run_over_pauses(std::size_t pauses, std::size_t requests) {
    std::jthread thread([this](const std::stop_token& stop) { reflector_.run(stop); });
    for (std::size_t i = 0; i < pauses; ++i) {
      EXPECT_TRUE(clock_.wait_for_waiters(1));
      EXPECT_TRUE(clock_.advance_to_next_deadline());
    }
    EXPECT_TRUE(transport_.wait_for_requests(requests));
  }
  std::string target(std::size_t request) const { return transport_.sent().at(request).target; }

  test::ManualClock clock_;
  base::Metrics metrics_;
  test::ScriptedTransport transport_;
  kube::Client client_{transport_, nullptr, clock_, metrics_, {.max_tries = 1}};
  Notes notes_;
  Reflector reflector_{
      client_,  test::ConfigMap::kType, {.ns = "lab", .label_selector = "a=b"}, notes_, clock_,
      metrics_, base::Log::none()};
};

TEST_F(ReflectorTest, ListsThenWatchesFromTheListsVersion) {
  transport_.answer(200, list());
  transport_.lines({R"({"type":"ADDED","object":{}})", R"({"type":"DELETED","object":{}})"});
  run_until(3);
  EXPECT_THAT(notes_.all(), ElementsAre("commit", "ADDED", "DELETED"));
  EXPECT_THAT(target(0), HasSubstr("/api/v1/namespaces/lab/configmaps?"));
  EXPECT_THAT(target(0), HasSubstr("resourceVersion=0"));
  EXPECT_THAT(target(0), HasSubstr("labelSelector=a%3Db"));
  EXPECT_THAT(target(1), HasSubstr("watch=true"));
  EXPECT_THAT(target(1), HasSubstr("resourceVersion=10"));
  EXPECT_THAT(target(1), HasSubstr("allowWatchBookmarks=true"));
  EXPECT_THAT(target(1), HasSubstr("labelSelector=a%3Db"));
  EXPECT_THAT(target(2), HasSubstr("resourceVersion=11"));
  EXPECT_THAT(metrics_.expose(), HasSubstr("gpupool_watch_restarts_total{kind=\"ConfigMap\"} 1\n"));
  EXPECT_THAT(metrics_.expose(), HasSubstr("gpupool_watch_lists_total{kind=\"ConfigMap\"} 1\n"));
}

TEST_F(ReflectorTest, IsSyncedOnlyAfterTheCommit) {
  bool synced_in_commit = true;
  notes_.on_commit = [&] { synced_in_commit = reflector_.synced(); };
  EXPECT_FALSE(reflector_.synced());
  transport_.answer(200, list());
  run_until(2);
  EXPECT_FALSE(synced_in_commit);
  EXPECT_TRUE(reflector_.synced());
}

TEST_F(ReflectorTest, ListsAreTakenItemByItem) {
  transport_.answer(200, list(R"({"a":1},{"b":[2]})"));
  run_until(2);
  EXPECT_THAT(notes_.all(), ElementsAre(R"({"a":1})", R"({"b":[2]})", "commit"));
  EXPECT_THAT(target(0), testing::EndsWith("/configmaps?labelSelector=a%3Db&resourceVersion=0"));
}

TEST_F(ReflectorTest, AListThatBreaksOffIsAbandonedAndListedAgain) {
  transport_.part(R"({"items":[{"a":1},{"b)", ErrorCode::kTransport);
  transport_.part(R"({"items":[{"a":1})", std::nullopt);
  transport_.answer(200, list(R"({"a":1},{"b":2})"));
  run_over_pauses(2, 4);
  EXPECT_THAT(notes_.all(), ElementsAre(R"({"a":1})", "abandon", R"({"a":1})", "abandon", R"({"a":1})",
                                        R"({"b":2})", "commit"));
}

TEST_F(ReflectorTest, AListThatBreaksOffIsNoFirstList) {
  transport_.part(R"({"items":[{"a":1})", ErrorCode::kTransport);
  run_until(1);
  EXPECT_FALSE(reflector_.synced());
}

TEST_F(ReflectorTest, ABookmarkIsNoEventButAdvances) {
  transport_.answer(200, list());
  transport_.lines({R"({"type":"BOOKMARK","object":{"metadata":{"resourceVersion":"77"}}})"});
  run_until(3);
  EXPECT_THAT(notes_.all(), ElementsAre("commit"));
  EXPECT_THAT(target(2), HasSubstr("resourceVersion=77"));
}

TEST_F(ReflectorTest, GoneInTheStreamEndsItAndIsListedAgain) {
  transport_.answer(200, list());
  transport_.lines(
      {R"({"type":"ERROR","object":{"kind":"Status","code":410,"reason":"Expired","status":"Failure"}})",
       R"({"type":"ADDED","object":{}})"});
  transport_.answer(200, list());
  run_over_pauses(1, 4);
  EXPECT_THAT(notes_.all(), ElementsAre("commit", "commit"));
  EXPECT_THAT(target(2), HasSubstr("resourceVersion=10"));
}

TEST_F(ReflectorTest, GoneAtTheWatchsStartIsListedAgain) {
  transport_.answer(200, list());
  transport_.answer(410, R"({"kind":"Status","code":410,"reason":"Expired","status":"Failure"})");
  transport_.answer(200, list());
  run_over_pauses(1, 4);
  EXPECT_THAT(notes_.all(), ElementsAre("commit", "commit"));
}

TEST_F(ReflectorTest, GoneOnAListIsListedWithoutAVersion) {
  transport_.answer(410, R"({"kind":"Status","code":410,"reason":"Expired","status":"Failure"})");
  transport_.answer(200, list());
  run_until(3);
  EXPECT_THAT(target(0), HasSubstr("resourceVersion=0"));
  EXPECT_THAT(target(1), testing::Not(HasSubstr("resourceVersion")));
}

TEST_F(ReflectorTest, ALostConnectionIsResumedFromTheLastEvent) {
  transport_.answer(200, list());
  transport_.lines({R"({"type":"ADDED","object":{}})"}, ErrorCode::kTransport);
  transport_.answer(200, R"({"metadata":{"resourceVersion":"11"}})");
  run_over_pauses(1, 4);
  EXPECT_THAT(notes_.all(), ElementsAre("commit", "ADDED"));
  EXPECT_THAT(target(2), testing::EndsWith("?limit=1"));
  EXPECT_THAT(target(3), HasSubstr("watch=true"));
  EXPECT_THAT(target(3), HasSubstr("resourceVersion=11"));
}

TEST_F(ReflectorTest, AServerThatWasTakenBackIsListedAgain) {
  transport_.answer(200, list());
  transport_.lines({R"({"type":"ADDED","object":{}})"}, ErrorCode::kTransport);
  transport_.answer(200, R"({"metadata":{"resourceVersion":"3"}})");
  transport_.answer(200, list());
  run_over_pauses(1, 4);
  EXPECT_THAT(notes_.all(), ElementsAre("commit", "ADDED", "commit"));
  EXPECT_THAT(target(3), testing::EndsWith("/configmaps?labelSelector=a%3Db"));
}

TEST_F(ReflectorTest, BrokenThingsAreCountedAndSkipped) {
  transport_.answer(200, list(R"({"broken":1},{"a":1},{"broken":1})"));
  transport_.lines({R"({"type":"NEWS","object":{}})",
                    R"({"type":"ADDED","object":{"broken":1,"metadata":{"resourceVersion":"44"}}})",
                    R"({"type":"BOOKMARK","object":[]})"});
  run_until(3);
  EXPECT_THAT(notes_.all(),
              ElementsAre(R"({"broken":1})", R"({"a":1})", R"({"broken":1})", "commit", "ADDED"));
  // Continues after the broken event.
  EXPECT_THAT(target(2), HasSubstr("resourceVersion=44"));
  EXPECT_THAT(metrics_.expose(), HasSubstr("gpupool_watch_decode_errors_total{kind=\"ConfigMap\"} 5\n"));
}

// Only a list shows what the line was about, because the next watch would begin after it.
TEST_F(ReflectorTest, ALineThatIsNoJsonIsListedAgain) {
  for (const auto* line :
       {"garbage", R"({"type":"MODIFIED","object":{"metadata":{"broken)", R"({"type":"BOOK)"}) {
    SCOPED_TRACE(line);
    transport_.answer(200, list());
    transport_.lines({line, R"({"type":"ADDED","object":{}})"});
  }
  transport_.answer(200, list());
  run_over_pauses(3, 8);
  EXPECT_THAT(notes_.all(), ElementsAre("commit", "commit", "MODIFIED", "commit", "commit"));
}

TEST_F(ReflectorTest, AnUnreadableListIsListedAgain) {
  transport_.answer(200, R"({"items":{}})");
  transport_.answer(200, R"({"items":[]})");
  transport_.answer(200, list());
  run_over_pauses(2, 4);
  EXPECT_THAT(notes_.all(), ElementsAre("abandon", "abandon", "commit"));
}

TEST_F(ReflectorTest, ForbiddenIsTriedUntilItIsAllowed) {
  for (int i = 0; i < 3; ++i) transport_.answer(403, R"({"kind":"Status","code":403,"reason":"Forbidden"})");
  transport_.answer(200, list());
  run_over_pauses(3, 5);
  EXPECT_TRUE(reflector_.synced());
}

TEST_F(ReflectorTest, StopEndsAListAndAPause) {
  run_until(1);
  transport_.fail(ErrorCode::kTransport);
  std::jthread thread([this](const std::stop_token& stop) { reflector_.run(stop); });
  EXPECT_TRUE(clock_.wait_for_waiters(1));
}

}  // namespace
}  // namespace gpupool::runtime
