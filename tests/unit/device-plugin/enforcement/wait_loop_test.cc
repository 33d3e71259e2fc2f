// SPDX-License-Identifier: Apache-2.0
#include "enforcement/wait_loop.h"

#include <gtest/gtest.h>

#include <memory>

#include "tests/support/temporary_folder.h"
#include "tests/unit/device-plugin/enforcement/region_process.h"

namespace gpupool::enforcement {
namespace {

using test::RegionProcess;

// A GPU of which only the free memory matters.
class FreeMemory final : public inventory::GpuSource {
 public:
  base::Result<inventory::Inventory> list() override { return inventory::Inventory{}; }
  base::Result<inventory::Usage> usage(const std::string&) override {
    ++asked;
    inventory::Usage usage;
    usage.memory_free_mib = free_mib;
    return usage;
  }
  base::Result<std::vector<inventory::ProcessUse>> processes(const std::string&) override {
    return std::vector<inventory::ProcessUse>{};
  }
  inventory::Probe probe(const std::string&) override { return {}; }
  std::vector<inventory::ErrorEvent> wait_events(base::Duration, std::stop_token) override { return {}; }

  std::int64_t free_mib = 0;
  int asked = 0;
};

class WaitLoopTest : public testing::Test {
 protected:
  static constexpr std::uint64_t kMiB = 1024 * 1024;

  // A container with 100 MiB that waits for `waits_for` MiB.
  RegionProcess& start(const std::string& name, std::uint64_t waits_for, std::int64_t seconds = 30) {
    EXPECT_TRUE(regions_.renew({name, {{"GPU-0", 1000}}}).has_value());
    auto containers = *containers_.get();
    containers.push_back({"lab", name, "", "main", name, {{"GPU-0", 1000, {}}}});
    containers.back().devices[0].enforcement.memory_wait_seconds = seconds;
    containers_.set(std::move(containers));
    processes_.push_back(std::make_unique<RegionProcess>(
        regions_.path(name),
        RegionProcess::Plan{.limits = {1000 * kMiB}, .memory = 100 * kMiB, .waits_for = waits_for * kMiB}));
    EXPECT_TRUE(processes_.back()->ready());
    return *processes_.back();
  }
  void steps(int count) {
    for (int i = 0; i < count; ++i) loop_.step();
  }
  int refused() {
    int count = 0;
    for (const auto& process : processes_) count += process->wait_refused() ? 1 : 0;
    return count;
  }

  test::TemporaryFolder folder_;
  const RegionStore regions_{folder_.path()};
  FreeMemory source_;
  base::Latest<std::vector<Container>> containers_;
  base::Metrics metrics_;
  base::Log log_ = base::Log::none();
  WaitLoop loop_{regions_, source_, containers_, metrics_, log_};
  std::vector<std::unique_ptr<RegionProcess>> processes_;
};

// Three holders that all wait: one gets out-of-memory, soon and only one.
TEST_F(WaitLoopTest, M12OneOfThreeThatWaitForEachOtherIsRefused) {
  start("a", 100);
  start("b", 100);
  auto& youngest = start("c", 100);
  steps(2);
  EXPECT_EQ(refused(), 0);  // it may have been read at three moments
  steps(1);
  EXPECT_TRUE(youngest.wait_refused());
  steps(20);
  EXPECT_EQ(refused(), 1);
  youngest.kill();
  processes_.pop_back();
  source_.free_mib = 100;
  steps(20);
  EXPECT_EQ(refused(), 0);
}

TEST_F(WaitLoopTest, WhileSomebodyMayGiveBackEnoughNobodyIsRefused) {
  start("a", 100);
  start("b", 0);
  steps(20);
  EXPECT_EQ(refused(), 0);
}

TEST_F(WaitLoopTest, AWaitThatNobodyCanEndIsRefused) {
  auto& one = start("a", 200);
  start("b", 0);
  steps(3);
  EXPECT_TRUE(one.wait_refused());
}

TEST_F(WaitLoopTest, MemoryThatIsFreeEndsTheWait) {
  source_.free_mib = 200;
  start("a", 200);
  start("b", 300);
  steps(20);
  EXPECT_EQ(refused(), 0);
}

TEST_F(WaitLoopTest, WithoutWaitsTheDriverIsNotAsked) {
  start("a", 0);
  EXPECT_TRUE(loop_.step());
  EXPECT_EQ(source_.asked, 0);
}

TEST_F(WaitLoopTest, WithoutWaitModeNothingIsRead) {
  start("a", 200, 0);
  EXPECT_FALSE(loop_.step());
  steps(10);
  EXPECT_EQ(refused(), 0);
  EXPECT_EQ(source_.asked, 0);
}

}  // namespace
}  // namespace gpupool::enforcement
