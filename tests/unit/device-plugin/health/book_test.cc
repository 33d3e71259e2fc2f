#include "tests/unit/device-plugin/health/book_fixture.h"

namespace gpupool::health {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;
using testing::StartsWith;

TEST_F(BookTest, GpusAreWellAtFirst) {
  EXPECT_THAT(book.unhealthy(), IsEmpty());
  EXPECT_EQ(state("GPU-a").since, now);
  EXPECT_TRUE(state("GPU-b").healthy);
}

TEST_F(BookTest, AnXidIsOfItsGpuAlone) {
  pass(5);
  xid("GPU-a", 79);
  EXPECT_THAT(book.unhealthy(),
              ElementsAre(Pair("GPU-a",
                               "Xid79: the GPU has fallen off the bus (until the GPU is reset or the "
                               "driver reloaded)")));
  EXPECT_EQ(state("GPU-a").reason, "Xid79");
  EXPECT_EQ(state("GPU-a").since, now);
}

TEST_F(BookTest, AnXidOfAnApplicationIsIgnored) {
  for (const std::uint64_t number : {13U, 31U, 43U, 45U, 94U}) xid("GPU-a", number);
  EXPECT_THAT(book.unhealthy(), IsEmpty());
}

TEST_F(BookTest, AnXidOfAnUnknownGpuMeansAll) {
  xid("", 79);
  EXPECT_THAT(book.unhealthy(),
              ElementsAre(Pair("GPU-a", StartsWith("Xid79")), Pair("GPU-b", StartsWith("Xid79"))));
}

TEST_F(BookTest, AnXidBeforeTheFirstListIsNotForgotten) {
  xid("GPU-c", 48);
  list({"GPU-a", "GPU-b", "GPU-c"});
  EXPECT_FALSE(state("GPU-c").healthy);
}

TEST_F(BookTest, SettingsOverrideTheTableAndTheLastRuleWins) {
  settings.xids = {{.xid = 79, .action = settings::XidAction::kUntilReset},
                   {.xid = 79, .action = settings::XidAction::kIgnore},
                   {.xid = 31, .action = settings::XidAction::kUnhealthy}};
  book.use(settings);
  xid("GPU-a", 79);
  EXPECT_TRUE(state("GPU-a").healthy);
  xid("GPU-a", 31);
  EXPECT_FALSE(state("GPU-a").healthy);
  EXPECT_FALSE(state("GPU-a").until_reset);
}

TEST_F(BookTest, NewSettingsCanFreeAGpuThatWaitsForAReset) {
  xid("GPU-a", 109);
  xid("GPU-b", 79);
  settings.xids = {{.xid = 109, .action = settings::XidAction::kIgnore}};
  book.use(settings);
  EXPECT_FALSE(state("GPU-a").until_reset);
  EXPECT_TRUE(state("GPU-b").until_reset);
  clean_seconds("GPU-a", 10);
  EXPECT_TRUE(state("GPU-a").healthy);
}

TEST_F(BookTest, AProbeThatFailsMakesUnhealthyAtOnce) {
  failing("GPU-a");
  EXPECT_THAT(book.unhealthy(), ElementsAre(Pair("GPU-a", "ProbeFailed: Unknown Error")));
  lost("GPU-b");
  EXPECT_EQ(state("GPU-b").reason, "Lost");
}

TEST_F(BookTest, AProbeOfAGpuThatWasNeverListedIsNoNews) {
  failing("GPU-x");
  EXPECT_FALSE(book.states().contains("GPU-x"));
}

TEST_F(BookTest, AGpuThatIsNotListedAnyMoreIsLost) {
  list({"GPU-b"});
  EXPECT_THAT(book.unhealthy(), ElementsAre(Pair("GPU-a", "Lost: the driver does not list it")));
}

TEST_F(BookTest, WithoutADriverNoneIsWell) {
  book.driver_gone("Driver Not Loaded", now);
  EXPECT_THAT(book.unhealthy(), ElementsAre(Pair("GPU-a", "DriverGone: Driver Not Loaded"),
                                            Pair("GPU-b", "DriverGone: Driver Not Loaded")));
}

TEST_F(BookTest, TheFirstReasonStaysUnlessAGraverOneComes) {
  failing("GPU-a");
  const auto since = now;
  pass(1);
  xid("GPU-a", 74);
  EXPECT_EQ(state("GPU-a").reason, "ProbeFailed");
  xid("GPU-a", 79);
  EXPECT_EQ(state("GPU-a").reason, "Xid79");
  book.driver_gone("gone", now);
  xid("GPU-a", 48);
  EXPECT_EQ(state("GPU-a").reason, "Xid79");
  EXPECT_EQ(state("GPU-a").since, since);
}

}  // namespace
}  // namespace gpupool::health
