// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/device-plugin/health/tracker_fixture.h"

namespace gpupool::health {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;
using testing::StartsWith;

TEST_F(HealthTrackerTest, GpusAreWellAtFirst) {
  EXPECT_THAT(tracker.unhealthy(), IsEmpty());
  EXPECT_EQ(state("GPU-a").since, now);
  EXPECT_TRUE(state("GPU-b").healthy);
}

TEST_F(HealthTrackerTest, AnXidIsOfItsGpuAlone) {
  pass(5);
  xid("GPU-a", 79);
  EXPECT_THAT(tracker.unhealthy(),
              ElementsAre(Pair("GPU-a",
                               "Xid79: the GPU has fallen off the bus (until the GPU is reset or the "
                               "driver reloaded)")));
  EXPECT_EQ(state("GPU-a").reason, "Xid79");
  EXPECT_EQ(state("GPU-a").since, now);
}

TEST_F(HealthTrackerTest, AnXidOfAnApplicationIsIgnored) {
  for (const std::uint64_t number : {13U, 31U, 43U, 45U, 94U}) xid("GPU-a", number);
  EXPECT_THAT(tracker.unhealthy(), IsEmpty());
}

TEST_F(HealthTrackerTest, AnXidOfAnUnknownGpuMeansAll) {
  xid("", 79);
  EXPECT_THAT(tracker.unhealthy(),
              ElementsAre(Pair("GPU-a", StartsWith("Xid79")), Pair("GPU-b", StartsWith("Xid79"))));
}

TEST_F(HealthTrackerTest, AnXidBeforeTheFirstListIsNotForgotten) {
  xid("GPU-c", 48);
  list({"GPU-a", "GPU-b", "GPU-c"});
  EXPECT_FALSE(state("GPU-c").healthy);
}

TEST_F(HealthTrackerTest, SettingsOverrideTheTableAndTheLastRuleWins) {
  settings.error_rules = {{.code = 79, .action = settings::ErrorAction::kUntilReset},
                          {.code = 79, .action = settings::ErrorAction::kIgnore},
                          {.code = 31, .action = settings::ErrorAction::kUnhealthy}};
  tracker.use(settings);
  xid("GPU-a", 79);
  EXPECT_TRUE(state("GPU-a").healthy);
  xid("GPU-a", 31);
  EXPECT_FALSE(state("GPU-a").healthy);
  EXPECT_FALSE(state("GPU-a").until_reset);
}

TEST_F(HealthTrackerTest, NewSettingsCanFreeAGpuThatWaitsForAReset) {
  xid("GPU-a", 109);
  xid("GPU-b", 79);
  settings.error_rules = {{.code = 109, .action = settings::ErrorAction::kIgnore}};
  tracker.use(settings);
  EXPECT_FALSE(state("GPU-a").until_reset);
  EXPECT_TRUE(state("GPU-b").until_reset);
  clean_seconds("GPU-a", 10);
  EXPECT_TRUE(state("GPU-a").healthy);
}

TEST_F(HealthTrackerTest, AProbeThatFailsMakesUnhealthyAtOnce) {
  failing("GPU-a");
  EXPECT_THAT(tracker.unhealthy(), ElementsAre(Pair("GPU-a", "ProbeFailed: Unknown Error")));
  lost("GPU-b");
  EXPECT_EQ(state("GPU-b").reason, "Lost");
}

TEST_F(HealthTrackerTest, AProbeOfAGpuThatWasNeverListedIsNoNews) {
  failing("GPU-x");
  EXPECT_FALSE(tracker.states().contains("GPU-x"));
}

TEST_F(HealthTrackerTest, AGpuThatIsNotListedAnyMoreIsLost) {
  list({"GPU-b"});
  EXPECT_THAT(tracker.unhealthy(), ElementsAre(Pair("GPU-a", "Lost: the driver does not list it")));
}

TEST_F(HealthTrackerTest, WithoutADriverNoneIsWell) {
  tracker.driver_gone("Driver Not Loaded", now);
  EXPECT_THAT(tracker.unhealthy(), ElementsAre(Pair("GPU-a", "DriverGone: Driver Not Loaded"),
                                               Pair("GPU-b", "DriverGone: Driver Not Loaded")));
}

TEST_F(HealthTrackerTest, TheFirstReasonStaysUnlessAGraverOneComes) {
  failing("GPU-a");
  const auto since = now;
  pass(1);
  xid("GPU-a", 74);
  EXPECT_EQ(state("GPU-a").reason, "ProbeFailed");
  xid("GPU-a", 79);
  EXPECT_EQ(state("GPU-a").reason, "Xid79");
  tracker.driver_gone("gone", now);
  xid("GPU-a", 48);
  EXPECT_EQ(state("GPU-a").reason, "Xid79");
  EXPECT_EQ(state("GPU-a").since, since);
}

}  // namespace
}  // namespace gpupool::health
