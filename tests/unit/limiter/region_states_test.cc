// SPDX-License-Identifier: Apache-2.0
// C7: whatever is not enforced has a bit in the region's state, and the device plugin has a word for it.
// Other states are met in region_ledger_test.cc (kBadLimits, kUnknownDevice, kUnknownNames, kDamaged),
// region_processes_test.cc (kNoSlot, kLockLost, kSlotLost), and tests/limiter/cuda (kUnmeasured).
#include <sys/stat.h>

#include <set>

#include "enforcement/region_use.h"
#include "tests/unit/limiter/region_world.h"

namespace gpupool::limiter::testing {
namespace {

using RegionStates = RegionTest;
using enum Reservation;

constexpr unsigned kStates = 11;

TEST_F(RegionStates, EachHasAWordOfThePlugin) {
  std::set<std::string> words;
  for (unsigned bit = 0; bit < kStates; ++bit) {
    overwrite(offsetof(Region, state), std::uint32_t{1} << bit);
    const auto read = enforcement::read_region(path_);
    ASSERT_TRUE(read.has_value());
    ASSERT_EQ(read->reasons.size(), 1U) << bit;
    words.insert(read->reasons[0]);
  }
  EXPECT_EQ(words.size(), kStates);
  EXPECT_EQ(kSlotLost, 1U << (kStates - 1)) << "a new state needs a word and a test";
}

std::uint32_t shown_state(const std::vector<std::byte>& region) {
  std::uint32_t shown = 0;
  std::memcpy(&shown, region.data() + offsetof(Region, state), sizeof(shown));
  return shown;
}

TEST_F(RegionStates, NoLimits) {
  Ledger ledger;
  EXPECT_TRUE(ledger.attach(path_.c_str(), Limits{}));
  EXPECT_EQ(ledger.reserve(0, kMib), kUnlimited);
  EXPECT_EQ(shown_state(content()), kNoLimits);
}

TEST_F(RegionStates, AnotherLayout) {
  overwrite(offsetof(Region, layout), kRegionLayout + 1);
  Ledger ledger;
  EXPECT_FALSE(ledger.attach(path_.c_str(), two_devices()));
  EXPECT_EQ(ledger.reserve(0, kMib), kRefused);
  EXPECT_EQ(shown_state(content()), kWrongRegion);
}

// The region cannot say it: the refusals do.
TEST_F(RegionStates, ARegionThatCannotBeWritten) {
  ::chmod(path_.c_str(), 0444);
  ::chmod(folder_.c_str(), 0755);
  EXPECT_EQ(answer_of_child([&] {
              if (::setgid(65534) != 0 || ::setuid(65534) != 0) return 2;
              Ledger ledger;
              ledger.attach(path_.c_str(), two_devices());
              return ledger.reserve(0, kMib) == kRefused && ledger.state() == kNoRegion ? 0 : 1;
            }),
            0);
}

}  // namespace
}  // namespace gpupool::limiter::testing
