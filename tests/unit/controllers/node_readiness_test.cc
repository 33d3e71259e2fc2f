// SPDX-License-Identifier: Apache-2.0
#include "controllers/gpujob/node_readiness.h"

#include <gtest/gtest.h>

#include "tests/support/manual_clock.h"

namespace gpupool::controllers {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;

api::Node node(const std::string& status, base::WallTime stamp, const std::string& uid = "uid-a") {
  api::Node made;
  made.metadata.name = "a";
  made.metadata.uid = uid;
  made.status.conditions = {{"Ready", status, stamp}};
  return made;
}

class NodeReadinessTest : public testing::Test {
 protected:
  test::ManualClock clock_;
  NodeReadiness readiness_{clock_};
  const base::WallTime stamp_ = clock_.wall();
};

TEST_F(NodeReadinessTest, CountsByItsOwnClockWhateverTheStampSays) {
  for (const auto skew : {minutes(-10), minutes(0), minutes(10)}) {
    readiness_.forget("a");
    const auto silent = node("Unknown", stamp_ + skew);
    EXPECT_EQ(readiness_.not_ready_for(silent), base::Duration::zero());
    clock_.advance(seconds(29));
    EXPECT_EQ(readiness_.not_ready_for(silent), seconds(29));
  }
}

TEST_F(NodeReadinessTest, AReturnEndsTheCount) {
  readiness_.not_ready_for(node("Unknown", stamp_));
  clock_.advance(seconds(20));
  EXPECT_EQ(readiness_.not_ready_for(node("True", stamp_ + seconds(20))), base::Duration::zero());
  clock_.advance(seconds(5));
  EXPECT_EQ(readiness_.not_ready_for(node("Unknown", stamp_ + seconds(25))), base::Duration::zero());
}

TEST_F(NodeReadinessTest, AReturnThatNobodySawShowsInTheStamp) {
  readiness_.not_ready_for(node("Unknown", stamp_));
  clock_.advance(seconds(60));
  EXPECT_EQ(readiness_.not_ready_for(node("Unknown", stamp_ + seconds(55))), base::Duration::zero());
}

TEST_F(NodeReadinessTest, FalseAndUnknownAreOneAbsence) {
  readiness_.not_ready_for(node("False", stamp_));
  clock_.advance(seconds(20));
  EXPECT_EQ(readiness_.not_ready_for(node("Unknown", stamp_ + seconds(20))), seconds(20));
  clock_.advance(seconds(5));
  EXPECT_EQ(readiness_.not_ready_for(node("Unknown", stamp_ + seconds(20))), seconds(25));
}

TEST_F(NodeReadinessTest, AnotherNodeOfTheSameNameBeginsAnew) {
  readiness_.not_ready_for(node("Unknown", stamp_));
  clock_.advance(seconds(20));
  EXPECT_EQ(readiness_.not_ready_for(node("Unknown", stamp_, "uid-b")), base::Duration::zero());
}

}  // namespace
}  // namespace gpupool::controllers
