// SPDX-License-Identifier: Apache-2.0
#include "kubelet/resource_lock.h"

#include <gtest/gtest.h>

#include "base/directory_watch.h"
#include "tests/unit/device-plugin/kubelet/plugin_on_node.h"

namespace gpupool::test {
namespace {

using kubelet::ResourceLock;

class Lock : public testing::Test {
 protected:
  const TemporaryFolder folder_;
  const std::string path_ = folder_.path() + "/vgpu.lock";
};

TEST_F(Lock, IsHeldByOneUntilItsEnd) {
  {
    const auto first = ResourceLock::try_take(path_);
    ASSERT_TRUE(first.has_value() && first->has_value());
    const auto second = ResourceLock::try_take(path_);
    ASSERT_TRUE(second.has_value());
    EXPECT_FALSE(second->has_value());
  }
  const auto next = ResourceLock::try_take(path_);
  EXPECT_TRUE(next.has_value() && next->has_value());
}

// Two plugins on one node would wake each other, and themselves, without an end.
TEST_F(Lock, WakesNobodyWhenItIsTriedInVain) {
  const auto held = ResourceLock::try_take(path_);
  ASSERT_TRUE(held.has_value() && held->has_value());
  base::DirectoryWatch watch(folder_.path(), base::Log::none());
  watch.wait(std::chrono::seconds(10), {});  // the first ends at once: what was before is news
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(ResourceLock::try_take(path_).has_value());
  constexpr auto kLimit = std::chrono::milliseconds(50);
  const auto begin = std::chrono::steady_clock::now();
  watch.wait(kLimit, {});
  EXPECT_GE(std::chrono::steady_clock::now() - begin, kLimit);
}

}  // namespace
}  // namespace gpupool::test
