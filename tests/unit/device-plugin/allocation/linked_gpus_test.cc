// SPDX-License-Identifier: Apache-2.0
#include "allocation/linked_gpus.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/device-plugin/allocation/resources.h"

namespace gpupool::allocation {
namespace {

using inventory::Distance;
using testing::ElementsAre;
using testing::IsEmpty;

class Machine {
 public:
  explicit Machine(std::int64_t gpus) : gpus_(test::machine(gpus).gpus), candidates_() {
    for (const auto& gpu : gpus_) candidates_.push_back({gpu.uuid, -1, false});
  }
  Machine& link(std::size_t a, std::size_t b, Distance distance, std::int64_t nvlinks = 0) {
    gpus_[a].links.push_back({gpus_[b].uuid, distance, nvlinks});
    gpus_[b].links.push_back({gpus_[a].uuid, distance, nvlinks});
    return *this;
  }
  Machine& numa(std::size_t gpu, std::int64_t node) {
    candidates_[gpu].numa_node = node;
    return *this;
  }
  Machine& must(std::size_t gpu) {
    candidates_[gpu].must = true;
    return *this;
  }
  // All GPUs of each half have NVLinks to each other; between the halves is PCIe.
  static Machine two_islands(std::int64_t gpus) {
    Machine machine(gpus);
    const auto half = static_cast<std::size_t>(gpus / 2);
    for (std::size_t a = 0; a < 2 * half; ++a) {
      for (std::size_t b = a + 1; b < 2 * half; ++b) {
        const bool together = a / half == b / half;
        machine.link(a, b, together ? Distance::kNvlink : Distance::kSystem, together ? 4 : 0);
      }
    }
    return machine;
  }
  void take(std::size_t gpu) { candidates_.erase(candidates_.begin() + static_cast<std::ptrdiff_t>(gpu)); }

  std::vector<std::size_t> choose(std::size_t count) const { return linked_gpus(candidates_, count, gpus_); }

 private:
  std::vector<inventory::Gpu> gpus_;
  std::vector<WholeGpu> candidates_;
};

TEST(LinkedGpus, APairWithNvlinkBeforeAnyOther) {
  Machine machine(4);
  machine.link(0, 1, Distance::kSameBoard)
      .link(1, 2, Distance::kSingleSwitch)
      .link(1, 3, Distance::kNvlink, 1);
  EXPECT_THAT(machine.choose(2), ElementsAre(1, 3));
}

TEST(LinkedGpus, MoreNvlinksBeforeFewer) {
  Machine machine(3);
  machine.link(0, 1, Distance::kNvlink, 1).link(1, 2, Distance::kNvlink, 2);
  EXPECT_THAT(machine.choose(2), ElementsAre(1, 2));
}

TEST(LinkedGpus, NearerPathsBeforeFartherOnes) {
  Machine machine(4);
  machine.link(0, 1, Distance::kSystem).link(0, 2, Distance::kHostBridge).link(0, 3, Distance::kSingleSwitch);
  machine.link(1, 2, Distance::kSameCpu).link(1, 3, Distance::kMultipleSwitches);
  EXPECT_THAT(machine.choose(2), ElementsAre(0, 3));
}

TEST(LinkedGpus, OneIslandIsNotBrokenForTheOther) {
  Machine machine = Machine::two_islands(8);
  EXPECT_THAT(machine.choose(4), ElementsAre(0, 1, 2, 3));
  machine.take(6);
  // The broken island is the better place for one, and two, and three; four still fit in the other.
  EXPECT_THAT(machine.choose(1), ElementsAre(4));
  EXPECT_THAT(machine.choose(3), ElementsAre(4, 5, 6));
  EXPECT_THAT(machine.choose(4), ElementsAre(0, 1, 2, 3));
}

TEST(LinkedGpus, WhatMustBeDrawsItsNeighbours) {
  EXPECT_THAT(Machine::two_islands(8).must(6).choose(3), ElementsAre(4, 5, 6));
  EXPECT_THAT(Machine::two_islands(8).must(1).must(6).choose(2), ElementsAre(1, 6));
  EXPECT_THAT(Machine::two_islands(8).must(1).must(6).choose(1), ElementsAre(1, 6));
}

TEST(LinkedGpus, NumaNodesDecideBetweenEquals) {
  Machine machine(4);
  machine.numa(0, 0).numa(1, 1).numa(2, 0).numa(3, 1);
  EXPECT_THAT(machine.choose(2), ElementsAre(0, 2));
  EXPECT_THAT(machine.must(1).choose(2), ElementsAre(1, 3));
}

TEST(LinkedGpus, OtherwiseTheFirst) {
  EXPECT_THAT(Machine(4).choose(2), ElementsAre(0, 1));
  EXPECT_THAT(Machine(4).choose(0), IsEmpty());
  EXPECT_THAT(Machine(4).choose(9), ElementsAre(0, 1, 2, 3));
  EXPECT_THAT(Machine(0).choose(2), IsEmpty());
}

// Too many combinations to try all: C(32, 8) is 10 million.
TEST(LinkedGpus, ManyGpusAreChosenOneByOne) {
  Machine machine = Machine::two_islands(32);
  EXPECT_THAT(machine.must(20).choose(8), ElementsAre(16, 17, 18, 19, 20, 21, 22, 23));
}

}  // namespace
}  // namespace gpupool::allocation
