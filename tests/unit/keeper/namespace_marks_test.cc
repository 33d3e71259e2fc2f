// SPDX-License-Identifier: Apache-2.0
#include "readers/namespace_marks.h"

#include <gtest/gtest.h>

namespace gpupool::keeper {
namespace {

using std::chrono::seconds;

TEST(BeganIn, TheUidDecidesWhereItIsKnown) {
  AttemptInfo attempt{.namespace_uid = "one"};
  attempt.begin = base::WallTime(seconds(100));
  EXPECT_TRUE(began_in({"one", base::WallTime(seconds(500))}, attempt));  // a clock is wrong
  EXPECT_FALSE(began_in({"two", base::WallTime(seconds(1))}, attempt));
}

TEST(BeganIn, ElseTheTimesDo) {
  AttemptInfo attempt;
  attempt.begin = base::WallTime(seconds(100));
  EXPECT_TRUE(began_in({"one", base::WallTime(seconds(99))}, attempt));
  EXPECT_FALSE(began_in({"one", base::WallTime(seconds(100))}, attempt));
  EXPECT_FALSE(began_in({"one", base::WallTime(seconds(101))}, attempt));
}

}  // namespace
}  // namespace gpupool::keeper
