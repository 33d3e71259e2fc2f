// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gmock/gmock.h>

#include "tests/unit/job-life/world.h"

namespace gpupool::test {

// The job has ended: no node is held, nothing is left that works, and no rule was broken.
inline void expect_nothing_left(const World& world) {
  EXPECT_THAT(world.broken, testing::IsEmpty());
  EXPECT_THAT(world.tainted(), testing::IsEmpty());
  EXPECT_THAT(world.pods, testing::IsEmpty());
  EXPECT_THAT(world.children_at_work(), testing::IsEmpty());
}

}  // namespace gpupool::test
