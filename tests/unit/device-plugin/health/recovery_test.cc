// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/device-plugin/health/tracker_fixture.h"

namespace gpupool::health {
namespace {

class RecoveryTest : public HealthTrackerTest {};

TEST_F(RecoveryTest, NeedsQuietTimeAndCleanProbes) {
  xid("GPU-a", 74);
  clean_seconds("GPU-a", 9);
  EXPECT_FALSE(state("GPU-a").healthy);  // enough probes, too early
  clean_seconds("GPU-a", 1);
  EXPECT_TRUE(state("GPU-a").healthy);
  EXPECT_EQ(state("GPU-a").since, now);
  EXPECT_EQ(state("GPU-a").reason, "");
}

TEST_F(RecoveryTest, TimeAloneIsNotEnough) {
  xid("GPU-a", 74);
  pass(3600);
  alive("GPU-a");
  alive("GPU-a");
  EXPECT_FALSE(state("GPU-a").healthy);
  alive("GPU-a");
  EXPECT_TRUE(state("GPU-a").healthy);
}

TEST_F(RecoveryTest, EveryNewTroubleStartsTheCountAnew) {
  failing("GPU-a");
  clean_seconds("GPU-a", 9);
  failing("GPU-a");
  clean_seconds("GPU-a", 9);
  EXPECT_FALSE(state("GPU-a").healthy);
  EXPECT_EQ(state("GPU-a").clean_probes, 9);
  clean_seconds("GPU-a", 1);
  EXPECT_TRUE(state("GPU-a").healthy);
}

TEST_F(RecoveryTest, ProbesMustBeCleanInARow) {
  settings.recovery_seconds = 0;
  tracker.use(settings);
  for (int i = 0; i < 5; ++i) {
    failing("GPU-a");
    alive("GPU-a");
    alive("GPU-a");
  }
  EXPECT_FALSE(state("GPU-a").healthy);
  alive("GPU-a");
  EXPECT_TRUE(state("GPU-a").healthy);
}

TEST_F(RecoveryTest, NotByCleanProbesWhereOnlyAResetHelps) {
  xid("GPU-a", 119);
  clean_seconds("GPU-a", 600);
  EXPECT_FALSE(state("GPU-a").healthy);
}

TEST_F(RecoveryTest, AReloadedDriverEndsIt) {
  xid("GPU-a", 119);
  pass(60);
  list({"GPU-a", "GPU-b"}, true);
  EXPECT_FALSE(state("GPU-a").healthy);  // the clean probes still have to come
  clean_seconds("GPU-a", 2);
  EXPECT_FALSE(state("GPU-a").healthy);
  clean_seconds("GPU-a", 1);
  EXPECT_TRUE(state("GPU-a").healthy);
}

TEST_F(RecoveryTest, AnOrdinaryListEndsNothing) {
  xid("GPU-a", 119);
  pass(60);
  list({"GPU-a", "GPU-b"});
  clean_seconds("GPU-a", 60);
  EXPECT_FALSE(state("GPU-a").healthy);
}

TEST_F(RecoveryTest, AGpuThatComesBackToTheBusWasReset) {
  xid("GPU-a", 79);
  lost("GPU-a");
  clean_seconds("GPU-a", 9);
  EXPECT_FALSE(state("GPU-a").healthy);
  clean_seconds("GPU-a", 1);
  EXPECT_TRUE(state("GPU-a").healthy);
}

TEST_F(RecoveryTest, SoWasOneThatIsListedAgain) {
  xid("GPU-a", 79);
  list({"GPU-b"});
  pass(60);
  list({"GPU-a", "GPU-b"});
  EXPECT_FALSE(state("GPU-a").healthy);
  clean_seconds("GPU-a", 3);
  EXPECT_FALSE(state("GPU-a").until_reset);
  EXPECT_TRUE(state("GPU-a").healthy);
}

TEST_F(RecoveryTest, SoWasOneOfWhichTheDriverWantedIt) {
  xid("GPU-a", 95);
  reset_needed("GPU-a");
  EXPECT_EQ(state("GPU-a").reason, "Xid95");
  clean_seconds("GPU-a", 10);
  EXPECT_TRUE(state("GPU-a").healthy);
}

TEST_F(RecoveryTest, AFailureIsNoReset) {
  xid("GPU-a", 119);
  failing("GPU-a");
  clean_seconds("GPU-a", 600);
  EXPECT_FALSE(state("GPU-a").healthy);
}

// The XID comes after the GPU was back: that is a new trouble.
TEST_F(RecoveryTest, AnXidAfterTheResetCounts) {
  lost("GPU-a");
  alive("GPU-a");
  xid("GPU-a", 79);
  clean_seconds("GPU-a", 60);
  EXPECT_FALSE(state("GPU-a").healthy);
}

TEST_F(RecoveryTest, AClockSetBackDoesNotHoldAGpuForDays) {
  failing("GPU-a");
  now -= std::chrono::hours(48);
  clean_seconds("GPU-a", 11);
  EXPECT_TRUE(state("GPU-a").healthy);
}

TEST_F(RecoveryTest, WellGpusAreNotCounted) {
  clean_seconds("GPU-a", 100);
  EXPECT_EQ(state("GPU-a").clean_probes, 0);
}

}  // namespace
}  // namespace gpupool::health
