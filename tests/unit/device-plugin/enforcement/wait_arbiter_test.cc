// SPDX-License-Identifier: Apache-2.0
#include "enforcement/wait_arbiter.h"

#include <gtest/gtest.h>

#include <limits>

namespace gpupool::enforcement {
namespace {

using Free = std::map<std::string, std::uint64_t>;

Holder holder(const std::string& name, std::uint64_t held, std::uint64_t waiting, std::uint64_t since,
              const std::string& gpu = "GPU-0") {
  return {name, {{gpu, held, waiting, since, 5, 4}}};
}

TEST(WaitArbiter, NobodyWaits) {
  EXPECT_EQ(refuse_deadlocked({}, {}), std::nullopt);
  EXPECT_EQ(refuse_deadlocked({holder("a", 50, 0, 0), holder("b", 50, 0, 0)}, {}), std::nullopt);
}

TEST(WaitArbiter, AHolderThatDoesNotWaitMayGiveBack) {
  EXPECT_EQ(refuse_deadlocked({holder("a", 50, 0, 0), holder("b", 50, 40, 1), holder("c", 1, 60, 2)}, {}),
            std::nullopt);
}

TEST(WaitArbiter, WhenAllWaitTheYoungestIsRefused) {
  const std::vector<Holder> holders{holder("a", 30, 10, 1), holder("b", 30, 10, 3), holder("c", 30, 10, 2)};
  EXPECT_EQ(refuse_deadlocked(holders, {{"GPU-0", 9}}), (Refusal{"b", 0, 5}));
  EXPECT_EQ(refuse_deadlocked(holders, {{"GPU-0", 10}}), std::nullopt);  // one of them can go on
}

// The memory of those that can go on is not enough for the rest.
TEST(WaitArbiter, OnlyThoseThatAreStuckAreRefused) {
  const std::vector<Holder> holders{holder("a", 10, 5, 9), holder("b", 40, 100, 1), holder("c", 40, 100, 2)};
  EXPECT_EQ(refuse_deadlocked(holders, {{"GPU-0", 5}}), (Refusal{"c", 0, 5}));
}

TEST(WaitArbiter, ARefusedWaitCountsAsEnded) {
  std::vector<Holder> holders{holder("a", 50, 10, 1), holder("b", 50, 10, 2)};
  const auto refused = refuse_deadlocked(holders, {});
  ASSERT_EQ(refused, (Refusal{"b", 0, 5}));
  holders[1].devices[0].refused_ticket = refused->ticket;
  EXPECT_EQ(refuse_deadlocked(holders, {}), std::nullopt);
}

TEST(WaitArbiter, WhoWaitsAloneIsRefused) {
  EXPECT_EQ(refuse_deadlocked({holder("a", 50, 60, 1)}, {{"GPU-0", 50}}), (Refusal{"a", 0, 5}));
}

// a holds GPU-0 and waits for GPU-1, b the other way round: each GPU alone looks as if somebody might give
// back.
TEST(WaitArbiter, SeesRingsOverSeveralGpus) {
  const Holder a{"a", {{"GPU-0", 50, 0, 0, 0, 0}, {"GPU-1", 0, 10, 1, 3, 0}}};
  const Holder b{"b", {{"GPU-0", 0, 10, 2, 8, 0}, {"GPU-1", 50, 0, 0, 0, 0}}};
  EXPECT_EQ(refuse_deadlocked({a, b}, {}), (Refusal{"b", 0, 8}));
}

TEST(WaitArbiter, ForgedNumbersDoNoHarm) {
  const auto all = std::numeric_limits<std::uint64_t>::max();
  EXPECT_EQ(refuse_deadlocked({holder("a", all, 0, 0), holder("b", all, all, all), holder("c", 1, 5, 1)},
                              {{"GPU-0", all}}),
            std::nullopt);
}

}  // namespace
}  // namespace gpupool::enforcement
