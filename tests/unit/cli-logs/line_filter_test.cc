// SPDX-License-Identifier: Apache-2.0
#include "logs/line_filter.h"

#include <gtest/gtest.h>

namespace gpupool::logs {
namespace {

TEST(LineFilter, FindsAnywhereInTheLine) {
  const auto filter = LineFilter::make("loss=\\d+");
  ASSERT_TRUE(filter);
  EXPECT_TRUE(filter->matches("epoch 1 loss=23"));
  EXPECT_FALSE(filter->matches("epoch 1 loss=nan"));
}

TEST(LineFilter, AWrongPatternIsAnError) {
  const auto filter = LineFilter::make("(");
  ASSERT_FALSE(filter);
  EXPECT_EQ(base::ErrorCode::kInvalidArgument, filter.error().code);
  EXPECT_NE(std::string::npos, filter.error().message.find("--grep: missing )")) << filter.error().message;
}

}  // namespace
}  // namespace gpupool::logs
