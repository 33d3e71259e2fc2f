// SPDX-License-Identifier: Apache-2.0
#include "server/rate_limit.h"

#include <gtest/gtest.h>

#include <chrono>

#include "tests/support/manual_clock.h"

namespace gpupool::web {
namespace {

int allowed_of(RateLimit& limit, const std::string& address, int tries) {
  int allowed = 0;
  for (int i = 0; i < tries; ++i) allowed += limit.allows(address) ? 1 : 0;
  return allowed;
}

TEST(RateLimit, OneAddressDoesNotShutOutAnother) {
  test::ManualClock clock;
  RateLimit limit(clock);
  EXPECT_EQ(allowed_of(limit, "10.0.0.1", 1000), 100);
  EXPECT_EQ(allowed_of(limit, "10.0.0.2", 10), 10);
  clock.advance(std::chrono::seconds(1));
  EXPECT_EQ(allowed_of(limit, "10.0.0.1", 1000), 20);  // what was refused has cost nothing
}

}  // namespace
}  // namespace gpupool::web
