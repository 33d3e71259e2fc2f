// SPDX-License-Identifier: Apache-2.0
#include "agent/probes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace gpupool::agent {
namespace {

using std::chrono::seconds;
using testing::HasSubstr;
using Phase = kubelet::ResourcePlugin::Phase;

constexpr base::SteadyTime kStart{seconds(1000)};

Snapshot well() {
  Snapshot snapshot;
  snapshot.taken = kStart;
  return snapshot;
}

TEST(AliveTest, IsAliveWhileTheAgentGoesRound) {
  EXPECT_TRUE(alive(well(), kStart, kStart + seconds(59)).good);
  const auto answer = alive(well(), kStart, kStart + seconds(75));
  EXPECT_FALSE(answer.good);
  EXPECT_THAT(answer.text, HasSubstr("75 s"));
}

TEST(AliveTest, HasTimeForTheFirstRound) {
  EXPECT_TRUE(alive(Snapshot(), kStart, kStart + seconds(59)).good);
  EXPECT_FALSE(alive(Snapshot(), kStart, kStart + seconds(60)).good);
}

TEST(ReadyTest, IsReadyWhenAllResourcesAreRegistered) {
  EXPECT_TRUE(ready(well(), {{"a/b", {Phase::kRegistered, ""}}, {"c/d", {Phase::kRegistered, ""}}}).good);
  const auto answer =
      ready(well(), {{"a/b", {Phase::kRegistered, ""}}, {"c/d", {Phase::kNoKubelet, "no socket"}}});
  EXPECT_FALSE(answer.good);
  EXPECT_THAT(answer.text, HasSubstr("c/d is not registered: no socket"));
}

TEST(ReadyTest, SaysWhatIsMissing) {
  EXPECT_THAT(ready(Snapshot(), {}).text, HasSubstr("starting"));
  auto snapshot = well();
  EXPECT_THAT(ready(snapshot, {}).text, HasSubstr("no GPU to advertise"));
  snapshot.driver_problem = "no library";
  snapshot.settings_problem = "line 3 is bad";
  const auto answer = ready(snapshot, {{"a/b", {Phase::kRegistered, ""}}});
  EXPECT_FALSE(answer.good);
  EXPECT_THAT(answer.text, HasSubstr("no GPU driver: no library"));
  EXPECT_THAT(answer.text, HasSubstr("line 3 is bad"));
}

// A rolling update starts the new plugin first and waits until it is ready.
TEST(ReadyTest, APluginThatWaitsForItsPredecessorIsReady) {
  const auto answer = ready(well(), {{"a/b", {Phase::kOtherPlugin, "another one serves a/b"}}});
  EXPECT_TRUE(answer.good);
  EXPECT_THAT(answer.text, HasSubstr("another one serves a/b"));
}

TEST(ReadyTest, NotesAreToldAndHarmNothing) {
  auto snapshot = well();
  snapshot.notes = {"2 MiB are left over"};
  const auto answer = ready(snapshot, {{"a/b", {Phase::kRegistered, ""}}});
  EXPECT_TRUE(answer.good);
  EXPECT_THAT(answer.text, HasSubstr("note: 2 MiB are left over"));
}

}  // namespace
}  // namespace gpupool::agent
