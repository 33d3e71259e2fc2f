// SPDX-License-Identifier: Apache-2.0
#include "worker_logs/log_follower.h"
#include "logs/screen_writer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <future>
#include <map>

#include "tests/unit/cli-logs/played_job.h"
#include "tests/unit/cli-logs/played_log.h"
#include "tests/unit/cli-logs/watched_stream.h"

namespace gpupool::logs {
namespace {

using test::played_job;
using test::played_pod;
using ::testing::HasSubstr;
using ::testing::Not;

const base::WallTime kStart{std::chrono::seconds(1'767'323'045)};

class LogFollowerTest : public ::testing::Test {
 protected:
  void print(const std::string& pod, int ms, const std::string& text) {
    logs_[pod].print({kStart + std::chrono::milliseconds(ms), text});
  }

  // Serves what is there and ends the stream, also with follow: nothing may rely on an end.
  FetchLog fetch() {
    return
        [this](const api::ObjectKey& pod, const kube::LogOptions& options,
               const std::function<bool(std::string_view)>& on_piece, std::stop_token) -> base::Result<void> {
          const auto log = logs_.find(pod.name);
          if (log != logs_.end()) on_piece(log->second.served(options));
          return {};
        };
  }

  FollowEnd show(FollowOptions options, const Picture& picture, bool ranks) {
    ScreenWriter screen(out_, err_, {.ranks = ranks}, std::nullopt, true);
    LogFollower follower(std::move(options), fetch(), screen, clock_);
    follower.update(picture);
    const auto end = follower.run({});
    EXPECT_TRUE(end);
    return *end;
  }

  base::SystemClock clock_;
  std::map<std::string, test::PlayedLog> logs_;
  test::WatchedStream out_;
  test::WatchedStream err_;
};

TEST_F(LogFollowerTest, RanksInTheOrderOfTheirTimes) {
  print("resnet-1-0", 0, "a");
  print("resnet-1-0", 20, "c");
  print("resnet-1-1", 10, "b");
  print("resnet-1-1", 30, "d");
  const auto end = show({.wanted = {.ranks = {0, 1}}},
                        {.job = played_job(2, R"("phase":"Running")"),
                         .pods = {played_pod(1, 0, 0, test::kRuns), played_pod(1, 0, 1, test::kRuns)}},
                        true);
  EXPECT_EQ("0 | a\n1 | b\n0 | c\n1 | d\n", out_.str());
  EXPECT_TRUE(end.complete);
  EXPECT_TRUE(end.any_worker);
  EXPECT_FALSE(end.job_over);
}

TEST_F(LogFollowerTest, FollowsFromAttemptToAttemptUntilTheJobIsOver) {
  print("resnet-1-0", 0, "first");
  print("resnet-2-0", 50, "second");
  ScreenWriter screen(out_, err_, {}, std::nullopt, true);
  LogFollower follower({.follow = true}, fetch(), screen, clock_);
  follower.update(
      {.job = played_job(2, R"("phase":"Queued","reason":"WaitingForNodes","message":"2 wait")")});
  auto end = std::async(std::launch::async, [&] { return follower.run({}); });
  EXPECT_TRUE(err_.wait_for("resnet is Queued"));
  const std::string lease = R"("leaseSequence":2,"lease":{"id":")" + test::kPlayedUid + ".2\",";
  follower.update({.job = played_job(2, R"("phase":"Running")"), .pods = {played_pod(1, 0, 0, test::kRuns)}});
  EXPECT_TRUE(out_.wait_for("first\n"));
  follower.update({.job = played_job(2, lease + R"("attempt":1,"state":"Restarting"},"phase":"Restarting",)" +
                                            R"("reason":"WorkerFailed","message":"attempt 0: rank 0 died")"),
                   .pods = {played_pod(1, 0, 0, test::kEndedWell)}});
  // At once: how attempt 0 has ended must not be missed.
  follower.update({.job = played_job(2, lease + R"("attempt":1,"state":"Running"},"phase":"Running")"),
                   .pods = {played_pod(2, 1, 0, test::kRuns)}});
  EXPECT_TRUE(out_.wait_for("second\n"));
  follower.update({.job = played_job(2, R"("leaseSequence":2,"attempts":2,"phase":"Succeeded",)"
                                        R"("reason":"Completed","message":"all workers succeeded")"),
                   .pods = {played_pod(2, 1, 0, test::kEndedWell)}});
  ASSERT_EQ(std::future_status::ready, end.wait_for(std::chrono::seconds(20)));
  const auto result = end.get();
  ASSERT_TRUE(result);
  EXPECT_TRUE(result->job_over);
  EXPECT_TRUE(result->complete) << err_.str();
  EXPECT_EQ("first\nsecond\n", out_.str());
  EXPECT_EQ(
      "-- resnet is Queued: WaitingForNodes: 2 wait --\n"
      "-- resnet, attempt 0, 2 ranks, nodes gpu-0 --\n"
      "-- attempt 0 ended: WorkerFailed: rank 0 died --\n"
      "-- resnet, attempt 1, 2 ranks, nodes gpu-0 --\n"
      "-- attempt 1 ended: Completed: all workers succeeded --\n",
      err_.str());
}

TEST_F(LogFollowerTest, SaysThatLinesMayBeMissingOfACutLogWhosePodIsGone) {
  ScreenWriter screen(out_, err_, {}, std::nullopt, true);
  const FetchLog cut = [](const api::ObjectKey&, const kube::LogOptions& options,
                          const std::function<bool(std::string_view)>& on_piece,
                          std::stop_token) -> base::Result<void> {
    if (!options.since) on_piece(test::PlayedLog::stamp(kStart) + " first\n");
    return tl::unexpected<base::Error>(base::Error{base::ErrorCode::kTransport, "reset"});
  };
  LogFollower follower({.follow = true}, cut, screen, clock_);
  follower.update({.job = played_job(2, R"("phase":"Running")"), .pods = {played_pod(1, 0, 0, test::kRuns)}});
  auto end = std::async(std::launch::async, [&] { return follower.run({}); });
  EXPECT_TRUE(out_.wait_for("first\n"));
  follower.update(
      {.job = played_job(2, R"("phase":"Failed","reason":"BackoffLimitExceeded","message":"died",)"
                            R"("leaseSequence":1,"attempts":2,)"
                            R"("history":[{"attempt":0,"cause":"WorkerFailed"}])")});
  ASSERT_EQ(std::future_status::ready, end.wait_for(std::chrono::seconds(20)));
  EXPECT_FALSE(end.get()->complete);
  EXPECT_THAT(err_.str(), HasSubstr("rank 0: its last lines may be missing: reset"));
  EXPECT_THAT(err_.str(), HasSubstr("-- attempt 0 ended: WorkerFailed --"));
}

TEST_F(LogFollowerTest, TheJobKeepsTheLastLinesOfPodsThatAreGone) {
  const auto end =
      show({},
           {.job = played_job(2, R"("phase":"Succeeded","reason":"Completed",)"
                                 R"("message":"all workers succeeded; last lines:\nepoch 9\nloss 0.1")")},
           true);
  EXPECT_EQ("epoch 9\nloss 0.1\n", out_.str());
  EXPECT_THAT(err_.str(), HasSubstr("the pods are gone"));
  EXPECT_TRUE(end.job_over);
  EXPECT_FALSE(end.any_worker);
}

TEST_F(LogFollowerTest, SaysHowManyRanksAreLeftOut) {
  print("resnet-1-0", 0, "a");
  Wanted wanted{.ranks = {0, 1, 2}, .max_streams = 1};
  show({.wanted = wanted},
       {.job = played_job(3, R"("phase":"Running")"),
        .pods = {played_pod(1, 0, 0, test::kRuns), played_pod(1, 0, 1, test::kRuns)}},
       false);
  EXPECT_EQ("a\n", out_.str());
  EXPECT_THAT(err_.str(), HasSubstr("2 ranks are left out"));
}

TEST_F(LogFollowerTest, AFailedRankIsShownWithRankZero) {
  print("resnet-1-1", 5, "Traceback");
  show({},
       {.job = played_job(2, R"("phase":"Running")"),
        .pods = {played_pod(1, 0, 0, test::kRuns), played_pod(1, 0, 1, test::kFailedAndHolds)}},
       true);
  EXPECT_EQ("1 | Traceback\n", out_.str());
  EXPECT_THAT(err_.str(), Not(HasSubstr("missing")));
}

TEST_F(LogFollowerTest, ARefusalIsAnError) {
  ScreenWriter screen(out_, err_, {}, std::nullopt, true);
  LogFollower follower(
      {},
      [](const auto&, const auto&, const auto&, auto) -> base::Result<void> {
        return base::fail(base::ErrorCode::kForbidden, "may not");
      },
      screen, clock_);
  follower.update({.job = played_job(1, ""), .pods = {played_pod(1, 0, 0, test::kRuns)}});
  const auto end = follower.run({});
  ASSERT_FALSE(end);
  EXPECT_EQ("may not", end.error().message);
}

}  // namespace
}  // namespace gpupool::logs
