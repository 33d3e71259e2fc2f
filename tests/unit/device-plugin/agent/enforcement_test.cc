// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "agent/exposition.h"
#include "agent/probes.h"
#include "kubelet/allocation_handler.h"
#include "tests/unit/device-plugin/agent/fake_node.h"
#include "tests/unit/device-plugin/enforcement/region_process.h"

namespace gpupool::agent {
namespace {

namespace fs = std::filesystem;
using test::kVgpu;
using test::RegionProcess;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

constexpr std::uint64_t kMebibyte = 1024 * 1024;
constexpr std::uint64_t kSliceMib = 3000;  // a quarter of a GPU
constexpr const char* kOne = "GPU-0::1";
constexpr const char* kTwo = "GPU-0::2";
constexpr int kTwoAudits = 10;  // seconds

// A node that enforces limits, with containers that hold one slice each.
class EnforcementTest : public testing::Test {
 protected:
  explicit EnforcementTest(const std::string& settings = "enforce: library\naudit: {onExcess: end}\n") {
    world_.limiter_directory = "/opt/limiter";
    world_.configure("version: v1\ndeviceSplitCount: 4\n" + settings);
    world_.gpus.install(1);
    life_ = std::make_unique<test::Life>(world_);
  }
  // Returns the path of its region; empty: its limits are not enforced.
  std::string allocate(const std::string& id) {
    v1beta1::AllocateRequest request;
    request.add_container_requests()->add_devices_ids(id);
    v1beta1::AllocateResponse response;
    const auto done = kubelet::AllocationHandler(life_->context, kVgpu).allocate(request, response);
    EXPECT_TRUE(done.has_value()) << done.error().message;
    for (const auto& mount : response.container_responses(0).mounts()) {
      if (mount.container_path() == "/run/gpupool/region") return mount.host_path();
    }
    return {};
  }
  void hold(const std::vector<std::string>& ids) {
    world_.pods.hold(ids);
    fs::create_directories(world_.folder.path() + "/device-plugins");
    std::string entries;
    for (const auto& id : ids) {
      entries += (entries.empty() ? "" : ",") + (R"({"PodUID":")" + uid_of(id)) +
                 R"(","ContainerName":"main","ResourceName":"gpupool.dev/vgpu","DeviceIDs":{"0":[")" + id +
                 R"("]}})";
    }
    std::ofstream(world_.folder.path() + "/device-plugins/kubelet_internal_checkpoint")
        << R"({"Data":{"PodDeviceEntries":[)" + entries + R"(]},"Checksum":1})";
  }
  static std::string uid_of(const std::string& id) { return "aaaa-" + id.substr(id.size() - 1); }
  // A process of the pod that holds this slice.
  inventory::ProcessUse process(std::int64_t pid, const std::string& id, std::uint64_t used_mib) {
    const auto folder = world_.folder.path() + "/proc/" + std::to_string(pid);
    fs::create_directories(folder);
    std::ofstream(folder + "/cgroup") << "0::/kubepods/burstable/pod" << uid_of(id) << "/c0\n";
    return {pid, used_mib * kMebibyte};
  }
  void audits(int seconds = kTwoAudits) { life_->look(seconds); }
  const std::vector<api::GpuNodeExcess>& excesses() const { return life_->reported.back().excesses; }
  std::string metrics() const { return expose(life_->snapshot()); }
  ProbeAnswer readiness() const {
    return ready(life_->snapshot(), {{kVgpu, {kubelet::ResourcePlugin::Phase::kRegistered, ""}}});
  }

  test::Life::World world_;
  std::unique_ptr<test::Life> life_;
};

std::string series(const std::string& name, const std::string& id, const std::string& more) {
  return name + R"({namespace="team",pod="pod-)" + id + R"(",)" + more + "} ";
}

TEST_F(EnforcementTest, AContainerThatKeepsToItsLimitIsShownAndReportedByNobody) {
  const auto region = allocate(kOne);
  const RegionProcess program(region, {.limits = {kSliceMib * kMebibyte},
                                       .memory = 700 * kMebibyte,
                                       .unknown = {"cuNew"},
                                       .refused_bytes = 3000 * kMebibyte});
  ASSERT_TRUE(program.ready());
  hold({kOne});
  world_.gpus.run("GPU-0", {process(42, kOne, 710)});
  audits();
  EXPECT_THAT(excesses(), IsEmpty());
  EXPECT_TRUE(readiness().good);
  const auto text = metrics();
  const std::string main = R"(container="main",gpu="GPU-0")";
  EXPECT_THAT(text, HasSubstr(series("gpupool_enforced_limit_bytes", kOne, main) + "3145728000\n"));
  EXPECT_THAT(text, HasSubstr(series("gpupool_enforced_used_bytes", kOne, main + R"(,class="memory")") +
                              std::to_string(700 * kMebibyte) + "\n"));
  EXPECT_THAT(text, HasSubstr(series("gpupool_enforced_refusals_total", kOne, main) + "1\n"));
  EXPECT_THAT(text, HasSubstr(series("gpupool_enforcement_state", kOne,
                                     R"(container="main",state="enforced",reason="UnknownNames")") +
                              "1\n"));
  EXPECT_THAT(text, HasSubstr(series("gpupool_enforcement_unknown_calls_total", kOne, R"(container="main")") +
                              "1\n"));
  EXPECT_THAT(text,
              HasSubstr(series("gpupool_enforcement_unknown_name", kOne, R"(container="main",name="cuNew")") +
                        "1\n"));
  EXPECT_THAT(text, Not(HasSubstr("gpupool_enforcement_excess_bytes")));
}

TEST_F(EnforcementTest, OnlyThePodThatUsesMoreThanItsSliceIsReported) {
  allocate(kOne);
  allocate(kTwo);
  hold({kOne, kTwo});
  world_.gpus.run("GPU-0", {process(42, kOne, 2000), process(43, kOne, 1065), process(44, kTwo, 10)});
  audits();
  ASSERT_EQ(excesses().size(), 1U);
  const auto& excess = excesses()[0];
  EXPECT_EQ(excess.ns + "/" + excess.pod + " " + excess.pod_uid + " " + excess.device,
            "team/pod-GPU-0::1 aaaa-1 GPU-0");
  EXPECT_EQ(excess.used_mib, 3065);
  EXPECT_EQ(excess.limit_mib, 3000);
  EXPECT_TRUE(excess.end);
  EXPECT_THAT(metrics(),
              HasSubstr(series("gpupool_enforcement_excess_bytes", kOne, R"(gpu="GPU-0",beyond="limit")") +
                        std::to_string(65 * kMebibyte) + "\n"));
  world_.gpus.run("GPU-0", {process(44, kTwo, 10)});
  audits();
  EXPECT_THAT(excesses(), IsEmpty());
}

// One that is static, calls the kernel's driver itself, has another loader, or uses Vulkan: the limiter sees
// nothing of it. Within its limit it is shown, beyond it is ended, both in two audits: 10 s.
TEST_F(EnforcementTest, E1AProgramThatLeavesTheLimiterOutIsFound) {
  const auto region = allocate(kOne);
  hold({kOne});
  world_.gpus.run("GPU-0", {process(42, kOne, 1500)});
  audits();
  EXPECT_THAT(excesses(), IsEmpty());
  EXPECT_THAT(metrics(),
              HasSubstr(series("gpupool_enforcement_excess_bytes", kOne, R"(gpu="GPU-0",beyond="counted")") +
                        std::to_string(1500 * kMebibyte) + "\n"));
  world_.gpus.run("GPU-0", {process(42, kOne, 5000)});
  audits();
  EXPECT_EQ(excesses().size(), 1U);
}

// More than it says: lower sums in the region.
TEST_F(EnforcementTest, E1AForgedRegionThatSaysLessIsFound) {
  const auto region = allocate(kOne);
  const RegionProcess program(region, {.limits = {kSliceMib * kMebibyte}, .memory = 100 * kMebibyte});
  ASSERT_TRUE(program.ready());
  hold({kOne});
  world_.gpus.run("GPU-0", {process(42, kOne, 2900)});
  audits();
  EXPECT_THAT(metrics(), HasSubstr("beyond=\"counted\"} " + std::to_string(2800 * kMebibyte) + "\n"));
}

// A region that says too much hides memory that is not counted, but not what is beyond the limit.
TEST_F(EnforcementTest, E1AForgedRegionThatSaysMoreHidesNoExcess) {
  const auto region = allocate(kOne);
  const RegionProcess program(region, {.limits = {kSliceMib * kMebibyte}, .memory = 100 * kMebibyte});
  ASSERT_TRUE(program.ready());
  std::fstream file(region, std::ios::in | std::ios::out | std::ios::binary);
  file.seekp(static_cast<std::streamoff>(limiter::kRegionHead));
  file << std::string(sizeof(limiter::Slot), '\xff');
  file.close();
  hold({kOne});
  world_.gpus.run("GPU-0", {process(42, kOne, 4000)});
  audits();
  EXPECT_EQ(excesses().size(), 1U);
  EXPECT_TRUE(readiness().good);
}

struct Damage {
  const char* name;
  void (*make)(const std::string& region);
};

class DamageTest : public EnforcementTest, public testing::WithParamInterface<Damage> {};

// Said at once, and the limit is compared as before.
TEST_P(DamageTest, E1ARegionThatIsNoMoreIsShownAsOff) {
  const auto region = allocate(kOne);
  hold({kOne});
  GetParam().make(region);
  world_.gpus.run("GPU-0", {process(42, kOne, 2000)});
  audits();
  EXPECT_THAT(metrics(), HasSubstr(series("gpupool_enforcement_state", kOne,
                                          R"(container="main",state="off",reason="RegionUnreadable")")));
  EXPECT_THAT(readiness().text,
              HasSubstr("note: limits of team/pod-GPU-0::1 (main) are not enforced: RegionUnreadable"));
  EXPECT_TRUE(readiness().good);
  EXPECT_THAT(excesses(), IsEmpty());
  world_.gpus.run("GPU-0", {process(42, kOne, 3500)});
  audits();
  EXPECT_EQ(excesses().size(), 1U);
}

void put_random_bytes(const std::string& region) {
  const auto size = fs::file_size(region);
  std::ofstream(region, std::ios::trunc) << std::string(size, '\x5a');
}

void replace_region(const std::string& region, int (*make)(const char*)) {
  fs::remove(region);
  EXPECT_EQ(make(region.c_str()), 0);
}

INSTANTIATE_TEST_SUITE_P(
    Each, DamageTest,
    testing::Values(Damage{"Empty", [](const std::string& region) { fs::resize_file(region, 0); }},
                    Damage{"OtherBytes", put_random_bytes},
                    Damage{"Removed", [](const std::string& region) { fs::remove(region); }},
                    Damage{"Folder",
                           [](const std::string& region) {
                             replace_region(region, [](const char* path) { return ::mkdir(path, 0777); });
                           }},
                    Damage{"Endless",
                           [](const std::string& region) {
                             replace_region(region,
                                            [](const char* path) { return ::symlink("/dev/zero", path); });
                           }},
                    Damage{"Pipe",
                           [](const std::string& region) {
                             replace_region(region, [](const char* path) { return ::mkfifo(path, 0666); });
                           }}),
    [](const auto& one) { return std::string(one.param.name); });

TEST_F(EnforcementTest, C7ALimiterThatHasFoundNoLimitsIsShownAsOff) {
  const auto region = allocate(kOne);
  std::fstream file(region, std::ios::in | std::ios::out | std::ios::binary);
  file.seekp(static_cast<std::streamoff>(offsetof(limiter::Region, state)));
  const std::uint32_t state = limiter::kNoLimits;
  file.write(reinterpret_cast<const char*>(&state), sizeof state);
  file.close();
  hold({kOne});
  audits();
  EXPECT_THAT(metrics(), HasSubstr(R"(state="off",reason="NoLimits"} 1)"));
  EXPECT_THAT(readiness().text, HasSubstr("are not enforced: NoLimits"));
}

// A GPU that failed, and a policy that would not allow these slices any more.
TEST_F(EnforcementTest, WhatAContainerHoldsDoesNotDependOnWhatNewOnesGet) {
  allocate(kOne);
  hold({kOne});
  world_.gpus.answer("GPU-0", {.result = inventory::Probe::Result::kFailing, .detail = "test"});
  world_.gpus.run("GPU-0", {process(42, kOne, 5000)});
  audits();
  ASSERT_EQ(life_->healthy(), 0);
  EXPECT_EQ(excesses().size(), 1U);
}

// Without the PIDs of the node the driver tells no processes.
TEST_F(EnforcementTest, TheGpuAsAWholeIsComparedWhereAllItsSlicesHaveLimits) {
  allocate(kOne);
  hold({kOne});
  world_.gpus.fill(4000);
  audits();
  ASSERT_EQ(excesses().size(), 1U);
  EXPECT_FALSE(excesses()[0].end);
  EXPECT_EQ(excesses()[0].pod, "pod-GPU-0::1");
  hold({kOne, kTwo});  // the second was never allocated with limits that hold
  audits();
  world_.gpus.fill(7000);
  audits();
  EXPECT_THAT(metrics(), Not(HasSubstr(std::to_string(4000 * kMebibyte))));
}

TEST_F(EnforcementTest, AnotherPodWithTheSameSliceIsNotBlamed) {
  allocate(kOne);
  hold({kOne});
  world_.gpus.run("GPU-0", {{42, 9000 * kMebibyte}, process(43, kTwo, 9000)});
  audits();
  EXPECT_THAT(excesses(), IsEmpty());
}

class UnenforcedTest : public EnforcementTest {
 protected:
  UnenforcedTest() : EnforcementTest("") {}
};

TEST_F(UnenforcedTest, WhoDoesNotEnforcePaysNothing) {
  EXPECT_EQ(allocate(kOne), "");
  hold({kOne});
  world_.gpus.run("GPU-0", {process(42, kOne, 9000)});
  audits();
  EXPECT_EQ(world_.gpus.calls().processes, 0);
  EXPECT_FALSE(fs::exists(life_->regions.directory()));
  EXPECT_THAT(metrics(), Not(HasSubstr("enforce")));
  EXPECT_THAT(life_->reported.back().problem, IsEmpty());
  EXPECT_EQ(readiness().text.find("note: limits"), std::string::npos);
}

TEST(LimiterMissing, IsSaidEverywhere) {
  test::Life::World world;
  world.configure("version: v1\ndeviceSplitCount: 4\nenforce: library\n");
  world.gpus.install(1);
  test::Life life(world);
  const std::string words = "enforce: library needs the limiter";
  EXPECT_THAT(life.reported.back().problem, HasSubstr(words));
  const auto answer = ready(life.snapshot(), {{kVgpu, {kubelet::ResourcePlugin::Phase::kRegistered, ""}}});
  EXPECT_FALSE(answer.good);
  EXPECT_THAT(answer.text, HasSubstr(words));
  EXPECT_THAT(life.metrics.expose(), HasSubstr("gpupool_plugin_limiter_missing 1\n"));
  world.configure("version: v1\ndeviceSplitCount: 4\n");
  life.reload();
  EXPECT_THAT(life.reported.back().problem, IsEmpty());
  EXPECT_THAT(life.metrics.expose(), HasSubstr("gpupool_plugin_limiter_missing 0\n"));
}

}  // namespace
}  // namespace gpupool::agent
