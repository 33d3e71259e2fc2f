// SPDX-License-Identifier: Apache-2.0
#include "command/keep_trying.h"

#include <gtest/gtest.h>

#include <sstream>
#include <vector>

#include "tests/unit/kube/jumping_clock.h"

namespace gpupool::command {
namespace {

using base::ErrorCode;

TEST(KeepTrying, TellsOnceThatTheServerIsAwayAndOnceThatItIsBack) {
  test::JumpingClock clock;
  std::ostringstream err;
  int calls = 0;
  const auto end = keep_trying(clock,
                               [&](const auto& answered) -> base::Result<bool> {
                                 ++calls;
                                 if (calls == 2 || calls == 3)
                                   return base::fail(ErrorCode::kTransport, "connection refused");
                                 answered();
                                 return calls == 5;
                               },
                               tell_away(err), {});
  EXPECT_TRUE(end);
  EXPECT_EQ(calls, 5);
  EXPECT_EQ(err.str(),
            "the API server cannot be reached, trying on: connection refused\nthe API server is back\n");
  ASSERT_EQ(clock.waits().size(), 2U);
  EXPECT_GE(clock.waits()[0], std::chrono::milliseconds(500));
  EXPECT_GT(clock.waits()[1], clock.waits()[0]);
}

TEST(KeepTrying, ARefusalEndsIt) {
  test::JumpingClock clock;
  const auto end = keep_trying(
      clock, [](const auto&) -> base::Result<bool> { return base::fail(ErrorCode::kForbidden, "no"); },
      [](const std::string&) { FAIL(); }, {});
  ASSERT_FALSE(end);
  EXPECT_EQ(end.error().code, ErrorCode::kForbidden);
  EXPECT_TRUE(clock.waits().empty());
}

}  // namespace
}  // namespace gpupool::command
