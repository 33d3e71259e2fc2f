// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <thread>

#include "kubelet/limits_store.h"
#include "tests/unit/device-plugin/kubelet/plugin_on_node.h"

namespace gpupool::test {
namespace {

namespace fs = std::filesystem;
using std::chrono::hours;

class LimitsStoreTest : public testing::Test {
 protected:
  std::string content(const std::string& name) const {
    std::ifstream in(store_.directory() + "/" + name);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  void age(const std::string& name, hours by) const {
    fs::last_write_time(store_.directory() + "/" + name, fs::file_time_type::clock::now() - by);
  }
  static base::WallTime ago(hours by) { return std::chrono::system_clock::now() - by; }
  std::size_t count() const {
    return static_cast<std::size_t>(
        std::distance(fs::directory_iterator(store_.directory()), fs::directory_iterator()));
  }

  TemporaryFolder folder_;
  kubelet::LimitsStore store_{folder_.path() + "/deep/limits"};
};

TEST_F(LimitsStoreTest, PutsAFile) {
  ASSERT_TRUE(store_.put({"limits-1", "content"}));
  EXPECT_EQ(content("limits-1"), "content");
  EXPECT_EQ(count(), 1U);
}

TEST_F(LimitsStoreTest, RepairsABrokenFile) {
  ASSERT_TRUE(store_.put({"limits-1", "content"}));
  fs::permissions(store_.directory() + "/limits-1", fs::perms::owner_all);
  std::ofstream(store_.directory() + "/limits-1") << "cont";
  ASSERT_TRUE(store_.put({"limits-1", "content"}));
  EXPECT_EQ(content("limits-1"), "content");
}

TEST_F(LimitsStoreTest, ReplacesTheFolderThatARuntimeMadeForAMissingFile) {
  fs::create_directories(store_.directory() + "/limits-1");
  ASSERT_TRUE(store_.put({"limits-1", "content"}));
  EXPECT_EQ(content("limits-1"), "content");
}

TEST_F(LimitsStoreTest, ReadersNeverSeeHalfAFile) {
  const std::string a(100000, 'a');
  const std::string b(100000, 'b');
  ASSERT_TRUE(store_.put({"limits-1", a}));
  std::jthread writer([&](const std::stop_token& stop) {
    while (!stop.stop_requested()) {
      EXPECT_TRUE(store_.put({"limits-1", b}));
      EXPECT_TRUE(store_.put({"limits-1", a}));
    }
  });
  for (int round = 0; round < 500; ++round) {
    const auto seen = content("limits-1");
    ASSERT_TRUE(seen == a || seen == b) << seen.size();
  }
}

TEST_F(LimitsStoreTest, Checklist27RemovesWhatNobodyNeeds) {
  for (const auto* name : {"held", "old", "new"}) ASSERT_TRUE(store_.put({name, "content"}));
  age("held", hours(48));
  age("old", hours(48));
  EXPECT_EQ(store_.collect({"held"}, ago(hours(24))), 1);
  EXPECT_EQ(content("held"), "content");
  EXPECT_EQ(content("new"), "content");
  EXPECT_FALSE(fs::exists(store_.directory() + "/old"));
}

TEST_F(LimitsStoreTest, Checklist27PuttingAFileAgainKeepsIt) {
  ASSERT_TRUE(store_.put({"limits-1", "content"}));
  age("limits-1", hours(48));
  ASSERT_TRUE(store_.put({"limits-1", "content"}));
  EXPECT_EQ(store_.collect({}, ago(hours(24))), 0);
}

TEST_F(LimitsStoreTest, Checklist27RemovesWhatAKilledPluginLeftUnfinished) {
  ASSERT_TRUE(store_.put({".new-1-0-limits-1", "cont"}));
  age(".new-1-0-limits-1", hours(48));
  EXPECT_EQ(store_.collect({}, ago(hours(24))), 1);
}

TEST_F(LimitsStoreTest, CollectsNothingWhereThereIsNoDirectory) {
  EXPECT_EQ(store_.collect({}, ago(hours(0))), 0);
}

}  // namespace
}  // namespace gpupool::test
