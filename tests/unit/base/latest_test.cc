// SPDX-License-Identifier: Apache-2.0
#include "base/latest.h"

#include <gtest/gtest.h>

#include <string>
#include <thread>

namespace gpupool::base {
namespace {

struct Pair {
  int one = 0;
  int same = 0;
};

TEST(LatestTest, HoldsADefaultOrAFirstValue) {
  EXPECT_EQ(*Latest<std::string>().get(), "");
  EXPECT_EQ(*Latest<std::string>("first").get(), "first");
}

TEST(LatestTest, AReaderKeepsItsValue) {
  Latest<std::string> latest("old");
  const auto kept = latest.get();
  latest.set("new");
  EXPECT_EQ(*kept, "old");
  EXPECT_EQ(*latest.get(), "new");
}

TEST(LatestTest, NobodySeesHalfOfAChange) {
  Latest<Pair> latest;
  const std::jthread writer([&] {
    for (int i = 1; i <= 10000; ++i) latest.set({i, i});
  });
  for (int last = 0; last < 10000;) {
    const auto seen = latest.get();
    ASSERT_EQ(seen->one, seen->same);
    ASSERT_GE(seen->one, last);
    last = seen->one;
  }
}

}  // namespace
}  // namespace gpupool::base
