// SPDX-License-Identifier: Apache-2.0
#include "worker_logs/rank_selection.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace gpupool::logs {
namespace {

using ::testing::ElementsAre;

TEST(ParseRanks, NumbersAndRanges) {
  EXPECT_THAT(*parse_ranks("0", 3), ElementsAre(0));
  EXPECT_THAT(*parse_ranks("5,0,3-4,4", 7), ElementsAre(0, 3, 4, 5));
  EXPECT_THAT(*parse_ranks("2-2", 7), ElementsAre(2));
}

TEST(ParseRanks, WhatIsWrongIsNamed) {
  for (const char* text :
       {"", "a", "1,", ",1", "1-", "-1", "3-2", "1-2-3", "0x1", "1 2", "99999999999999999999"}) {
    const auto ranks = parse_ranks(text, 7);
    ASSERT_FALSE(ranks) << text;
    EXPECT_EQ(base::ErrorCode::kInvalidArgument, ranks.error().code);
    EXPECT_NE(std::string::npos, ranks.error().message.find("is neither a rank nor a range")) << text;
  }
  EXPECT_EQ("--rank: '0-8' is beyond the last rank, 7", parse_ranks("0-8", 7).error().message);
  EXPECT_FALSE(parse_ranks("0-4000000000000000000", 7));
}

TEST(UsualRanks, RankZeroAndTheFailedOnes) {
  EXPECT_THAT(usual_ranks({}, 200).ranks, ElementsAre(0));
  EXPECT_THAT(usual_ranks({7, 2, 2}, 200).ranks, ElementsAre(0, 2, 7));
}

TEST(UsualRanks, AtMostTheLimit) {
  const auto choice = usual_ranks({1, 2, 3}, 2);
  EXPECT_THAT(choice.ranks, ElementsAre(0, 1));
  EXPECT_EQ(2, choice.left_out);
  EXPECT_EQ(0, limited({1, 2}, 2).left_out);
}

}  // namespace
}  // namespace gpupool::logs
