// SPDX-License-Identifier: Apache-2.0
#include "worker_logs/attempts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/cli-logs/played_job.h"

namespace gpupool::logs {
namespace {

using test::played_job;
using test::played_pod;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(WorkerState, WhereTheOutputIs) {
  const auto output = [](const std::string& container) {
    return state_of(*played_pod(1, 0, 0, container), "train").output;
  };
  EXPECT_EQ(Output::kNotBegun, output(R"("state":{"waiting":{"reason":"PodInitializing"}})"));
  EXPECT_EQ(Output::kRunning, output(test::kRuns));
  EXPECT_EQ(Output::kEnded, output(test::kEndedWell));
  EXPECT_EQ(Output::kPrevious, output(test::kFailedAndHolds));
  EXPECT_EQ(
      Output::kPrevious,
      output(
          R"("state":{"waiting":{"reason":"CrashLoopBackOff"}},"lastState":{"terminated":{"exitCode":1}})"));
  EXPECT_EQ(Output::kForgotten, output(R"("restartCount":2,"state":{"running":{}})"));
}

TEST(WorkerState, FailureAndPhase) {
  const auto failed = state_of(*played_pod(1, 0, 0, test::kFailedAndHolds), "train");
  EXPECT_TRUE(failed.failed);
  EXPECT_EQ(3, failed.exit_code);
  EXPECT_FALSE(failed.pod_over);
  EXPECT_TRUE(state_of(*played_pod(1, 0, 0, test::kEndedWell, "Succeeded"), "train").pod_over);
  EXPECT_EQ("ImagePullBackOff",
            state_of(*played_pod(1, 0, 0, R"("state":{"waiting":{"reason":"ImagePullBackOff"}})"), "train")
                .waits_for);
}

TEST(PlaceOf, AWorkerOfTheJob) {
  const auto job = played_job(4, "");
  const auto place = place_of(*played_pod(7, 2, 3, test::kRuns), job, "train");
  ASSERT_TRUE(place);
  EXPECT_EQ(7, place->lease);
  EXPECT_EQ(2, place->attempt);
  EXPECT_EQ(3, place->rank);
  EXPECT_FALSE(place_of(*played_pod(7, 2, 4, test::kRuns), job, "train")) << "there is no rank 4";
  auto other = job;
  other.metadata.uid = "0b7f2a60-0000-4000-8000-000000000002";
  EXPECT_FALSE(place_of(*played_pod(7, 2, 3, test::kRuns), other, "train")) << "an earlier job of that name";
}

TEST(PlaceOf, ThePodOfAJobIsRankZero) {
  auto pod = *played_pod(1, 0, 0, test::kRuns);
  pod.metadata.name = "resnet-1-x7k2p";
  EXPECT_FALSE(place_of(pod, played_job(1, ""), "train"));
  pod.metadata.owner_references[0].kind = "Job";
  EXPECT_EQ(0, place_of(pod, played_job(1, ""), "train")->rank);
}

Picture two_attempts() {
  return {.job = played_job(2, ""),
          .pods = {played_pod(1, 0, 0, test::kEndedWell), played_pod(1, 0, 1, test::kFailedAndHolds),
                   played_pod(3, 1, 0, R"("state":{"waiting":{"reason":"PodInitializing"}})")}};
}

TEST(Attempts, PodsByLeaseAndRank) {
  const auto attempts = attempts_of(two_attempts());
  ASSERT_EQ(2U, attempts.size());
  EXPECT_EQ(0, attempts.at(1).number);
  EXPECT_THAT(attempts.at(1).failed_ranks(), ElementsAre(1));
  EXPECT_EQ("gpu-0 gpu-1", attempts.at(1).node_names());
  EXPECT_FALSE(attempts.at(3).has_begun());
}

TEST(WantedLeases, TheNewestAttemptWithSomethingToShowAndLaterOnes) {
  const auto attempts = attempts_of(two_attempts());
  EXPECT_THAT(wanted_leases(attempts, {}, std::nullopt), ElementsAre(1, 3));
  EXPECT_THAT(wanted_leases(attempts, {}, 3), ElementsAre(3));
  EXPECT_THAT(wanted_leases(attempts, {.all_attempts = true}, 3), ElementsAre(1, 3));
  EXPECT_THAT(wanted_leases(attempts, {.attempt = 1}, std::nullopt), ElementsAre(3));
  EXPECT_THAT(wanted_leases(attempts, {.attempt = 9}, std::nullopt), IsEmpty());
  EXPECT_THAT(wanted_leases({}, {}, std::nullopt), IsEmpty());
}

TEST(WantedRanks, FailedOnesUnlessRanksAreNamed) {
  const auto attempt = attempts_of(two_attempts()).at(1);
  EXPECT_THAT(wanted_ranks(attempt, {}).ranks, ElementsAre(0, 1));
  EXPECT_THAT(wanted_ranks(attempt, {.ranks = {0}}).ranks, ElementsAre(0));
}

}  // namespace
}  // namespace gpupool::logs
