// SPDX-License-Identifier: Apache-2.0
#include "enforcement/region_use.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <random>
#include <thread>

#include "enforcement/region_store.h"
#include "limiter/region/layout.h"
#include "tests/support/temporary_folder.h"
#include "tests/unit/device-plugin/enforcement/region_process.h"

namespace gpupool::enforcement {
namespace {

using test::RegionProcess;
using testing::Contains;
using testing::ElementsAre;
using testing::IsEmpty;

class RegionUseTest : public testing::Test {
 protected:
  void SetUp() override { ASSERT_TRUE(store_.renew({"r", {{"GPU-0", 1}, {"GPU-1", 1}}}).has_value()); }
  void fill(std::size_t size) const {
    std::mt19937 random(7);
    std::string bytes(size, '\0');
    for (char& byte : bytes) byte = static_cast<char>(random());
    std::ofstream(path_, std::ios::trunc | std::ios::binary) << bytes;
  }

  test::TemporaryFolder folder_;
  const RegionStore store_{folder_.path()};
  const std::string path_ = store_.path("r");
};

TEST_F(RegionUseTest, ANewRegionIsEmpty) {
  const auto use = read_region(path_);
  ASSERT_TRUE(use.has_value()) << use.error().message;
  EXPECT_EQ(use->devices, (std::vector<RegionDeviceUse>(2)));
  EXPECT_THAT(use->reasons, IsEmpty());
  EXPECT_EQ(use->processes, 0U);
  EXPECT_FALSE(anybody_waits(path_));
}

TEST_F(RegionUseTest, ReadsWhatProcessesUse) {
  const RegionProcess one(
      path_, {.limits = {1000, 1000}, .memory = 300, .pending = 50, .waits_for = 40, .unknown = {"cuNew"}});
  const RegionProcess two(path_, {.limits = {1000, 1000}, .memory = 200, .refused_bytes = 900});
  ASSERT_TRUE(one.ready() && two.ready());
  const auto use = read_region(path_);
  ASSERT_TRUE(use.has_value()) << use.error().message;
  EXPECT_EQ(use->processes, 2U);
  const auto& device = use->devices.at(0);
  EXPECT_EQ(device.bytes[0], 500U);
  EXPECT_EQ(device.used_bytes(), 500U);
  EXPECT_EQ(device.counted_bytes(), 550U);
  EXPECT_EQ(device.refusals, 1U);
  EXPECT_EQ(device.waiting_bytes, 40U);
  EXPECT_GT(device.wait_ticket, 0U);
  EXPECT_TRUE(anybody_waits(path_));
  EXPECT_THAT(use->reasons, ElementsAre("UnknownNames"));
  EXPECT_THAT(use->unknown_names, ElementsAre("cuNew"));
  EXPECT_EQ(use->unknown_calls, 1U);
}

TEST_F(RegionUseTest, TheDeadUseNothingAndWaitForNothing) {
  RegionProcess one(path_, {.limits = {1000, 1000}, .memory = 300, .waits_for = 40});
  ASSERT_TRUE(one.ready());
  one.kill();
  const auto use = read_region(path_);
  ASSERT_TRUE(use.has_value());
  EXPECT_EQ(use->processes, 0U);
  EXPECT_EQ(use->devices[0].counted_bytes(), 0U);
  EXPECT_EQ(use->devices[0].waiting_bytes, 0U);
}

TEST_F(RegionUseTest, AWaitCanBeRefused) {
  RegionProcess one(path_, {.limits = {1000, 1000}, .memory = 300, .waits_for = 40});
  ASSERT_TRUE(one.ready());
  const auto ticket = read_region(path_)->devices[0].wait_ticket;
  ASSERT_TRUE(refuse_wait(path_, 0, ticket + 1).has_value());
  EXPECT_FALSE(one.wait_refused());
  ASSERT_TRUE(refuse_wait(path_, 0, ticket).has_value());
  EXPECT_TRUE(one.wait_refused());
  EXPECT_EQ(read_region(path_)->devices[0].refused_ticket, ticket);
}

TEST_F(RegionUseTest, WhatIsNoRegionIsAnError) {
  EXPECT_EQ(read_region(folder_.path() + "/none").error().code, base::ErrorCode::kNotFound);
  EXPECT_FALSE(read_region(folder_.path()).has_value());
  const auto size = std::filesystem::file_size(path_);
  for (const std::size_t bytes : {std::size_t{0}, std::size_t{7}, std::size_t{size - 1}}) {
    std::filesystem::resize_file(path_, bytes);
    EXPECT_EQ(read_region(path_).error().code, base::ErrorCode::kParse) << bytes;
    EXPECT_FALSE(anybody_waits(path_));
  }
  fill(size);
  EXPECT_EQ(read_region(path_).error().code, base::ErrorCode::kParse);
  std::filesystem::remove(path_);
  std::filesystem::create_symlink("/dev/zero", path_);
  EXPECT_FALSE(read_region(path_).has_value());
  EXPECT_FALSE(refuse_wait(path_, 0, 1).has_value());
}

// A container can write anything behind a good header.
TEST_F(RegionUseTest, RandomNumbersSaturate) {
  const auto size = static_cast<std::streamoff>(std::filesystem::file_size(path_));
  std::fstream file(path_, std::ios::in | std::ios::out | std::ios::binary);
  std::string head(16, '\0');
  file.read(head.data(), 16);
  file.close();
  fill(static_cast<std::size_t>(size));
  file.open(path_, std::ios::in | std::ios::out | std::ios::binary);
  file.write(head.data(), 16);
  file.close();
  const auto use = read_region(path_);
  ASSERT_TRUE(use.has_value()) << use.error().message;
  EXPECT_EQ(use->processes, 0U);  // nobody has the locks
  EXPECT_LE(use->devices.size(), 16U);
  for (const auto& name : use->unknown_names) {
    EXPECT_LT(name.size(), 48U);
    EXPECT_THAT(name, testing::Not(Contains('\n')));
  }
}

// The numbers of a living process, all of them forged.
TEST_F(RegionUseTest, ForgedNumbersOfALivingProcessSaturate) {
  const RegionProcess one(path_, {.limits = {1000, 1000}, .memory = 300});
  ASSERT_TRUE(one.ready());
  const auto head = limiter::kRegionHead;
  const std::string ones(std::filesystem::file_size(path_) - head, '\xff');
  std::fstream file(path_, std::ios::in | std::ios::out | std::ios::binary);
  file.seekp(static_cast<std::streamoff>(head));
  file << ones;
  file.close();
  const auto use = read_region(path_);
  ASSERT_TRUE(use.has_value()) << use.error().message;
  EXPECT_EQ(use->processes, 1U);
  EXPECT_EQ(use->devices.at(0).used_bytes(), ~0ULL);
  EXPECT_EQ(use->devices.at(0).counted_bytes(), ~0ULL);
}

// A container can put as many locks on its file as it likes.
TEST_F(RegionUseTest, QuestionsForLocksEnd) {
  const RegionProcess one(path_, {.limits = {1000, 1000}, .memory = 300});
  ASSERT_TRUE(one.ready());
  const auto use = read_region(path_, base::Duration::zero());
  ASSERT_FALSE(use.has_value());
  EXPECT_EQ(use.error().code, base::ErrorCode::kTimeout);
  EXPECT_THAT(use.error().message, testing::HasSubstr(path_));
}

TEST_F(RegionUseTest, AFileThatIsCutShortMeanwhileIsAnswered) {
  const auto size = std::filesystem::file_size(path_);
  const std::jthread tenant([&](const std::stop_token& stop) {
    while (!stop.stop_requested()) {
      std::filesystem::resize_file(path_, 0);
      fill(size);
      std::filesystem::resize_file(path_, size / 2);
    }
  });
  for (int i = 0; i < 200; ++i) {
    const auto use = read_region(path_);
    EXPECT_TRUE(use || use.error().code == base::ErrorCode::kParse) << use.error().message;
    anybody_waits(path_);
  }
}

TEST(RegionDeviceUse, SumsSaturate) {
  RegionDeviceUse use;
  use.bytes = {~0ULL, 5, 0, 0, 0, 0, 0};
  use.pending_bytes = 7;
  EXPECT_EQ(use.used_bytes(), ~0ULL);
  EXPECT_EQ(use.counted_bytes(), ~0ULL);
}

}  // namespace
}  // namespace gpupool::enforcement
