#pragma once

#include <gmock/gmock.h>

#include "tests/unit/planning/world.h"

namespace gpupool::test {

// The job is over: no node is held, nothing of it exists, and no rule was broken on the way.
inline void expect_nothing_left(const World& world) {
  EXPECT_THAT(world.broken, testing::IsEmpty());
  EXPECT_THAT(world.tainted(), testing::IsEmpty());
  EXPECT_THAT(world.pods, testing::IsEmpty());
  EXPECT_THAT(world.children, testing::IsEmpty());
}

}  // namespace gpupool::test
