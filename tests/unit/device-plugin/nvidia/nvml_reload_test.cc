// SPDX-License-Identifier: Apache-2.0
#include <dlfcn.h>
#include <gmock/gmock.h>

#include <array>
#include <future>
#include <thread>

#include "tests/unit/device-plugin/nvidia/fake_driver.h"

namespace gpupool::nvidia {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::Field;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

constexpr auto kLoadHang = 60s;

TEST(NvmlReload, NoLibrary) {
  const FakeDriver driver("{}");
  const auto source = driver.source("/nowhere/libnvidia-ml.so.1");
  const auto listed = source->list();
  ASSERT_FALSE(listed);
  EXPECT_EQ(listed.error().code, base::ErrorCode::kNotFound);
  EXPECT_THAT(listed.error().message, HasSubstr("/nowhere/libnvidia-ml.so.1"));
}

TEST(NvmlReload, AnotherLibraryIsNamed) {
  const FakeDriver driver("{}");
  const auto source = driver.source("libm.so.6");
  const auto listed = source->list();
  ASSERT_FALSE(listed);
  EXPECT_EQ(listed.error().message, "libm.so.6 is not NVML: it has no nvmlInit_v2");
}

TEST(NvmlReload, TheLibraryAppearsLater) {
  const FakeDriver driver(R"({"gpus": [{"uuid": "GPU-a"}]})");
  const auto library = driver.directory() / "libnvidia-ml.so.1";
  const auto source = driver.source(library.string());
  EXPECT_FALSE(source->list());
  std::filesystem::copy_file(fake_library(), library);
  EXPECT_THAT(list_or_fail(*source).gpus, SizeIs(1));
}

TEST(NvmlReload, TheDriverAppearsLater) {
  FakeDriver driver(R"({"driver": {"loaded": false}})");
  const auto source = driver.source();
  const auto without = source->list();
  ASSERT_FALSE(without);
  EXPECT_THAT(without.error().message, HasSubstr("Driver Not Loaded"));
  driver.say(R"({"gpus": [{"uuid": "GPU-a"}]})");
  EXPECT_THAT(list_or_fail(*source).gpus, SizeIs(1));
}

TEST(NvmlReload, AnotherVersionIsFoundAtOnce) {
  FakeDriver driver(R"({"driver": {"version": "550.54.15"}, "gpus": [{"uuid": "GPU-a"}]})");
  const auto source = driver.source();
  const inventory::Inventory before = list_or_fail(*source);
  driver.say(R"({"driver": {"version": "560.35.03"}, "gpus": [{"uuid": "GPU-a"}, {"uuid": "GPU-b"}]})");
  const inventory::Inventory after = list_or_fail(*source);
  EXPECT_EQ(after.driver.version, "560.35.03");
  EXPECT_THAT(after.gpus, SizeIs(2));
  EXPECT_EQ(after.opened, before.opened + 1);
  EXPECT_EQ(list_or_fail(*source).opened, after.opened);
}

// The module of the same version loaded again: NVML only says UNKNOWN, for everything.
TEST(NvmlReload, TheSameVersionIsFoundAtOnce) {
  FakeDriver driver(R"({"driver": {"load": 1}, "gpus": [{"uuid": "GPU-a"}]})");
  const auto source = driver.source();
  const inventory::Inventory before = list_or_fail(*source);
  driver.say(R"({"driver": {"load": 2}, "gpus": [{"uuid": "GPU-a"}]})");
  const inventory::Inventory after = list_or_fail(*source);
  EXPECT_EQ(after.gpus, before.gpus);
  EXPECT_EQ(after.opened, before.opened + 1);
}

TEST(NvmlReload, TheDriverGoesAndComes) {
  FakeDriver driver(R"({"gpus": [{"uuid": "GPU-a"}]})");
  const auto source = driver.source();
  const inventory::Inventory before = list_or_fail(*source);
  driver.say(R"({"driver": {"loaded": false}})");
  const auto gone = source->list();
  ASSERT_FALSE(gone);
  EXPECT_THAT(gone.error().message, HasSubstr("Driver Not Loaded"));
  EXPECT_EQ(source->probe("GPU-a").result, inventory::Probe::Result::kFailing);
  EXPECT_FALSE(source->usage("GPU-a"));
  driver.say(R"({"gpus": [{"uuid": "GPU-a"}]})");
  EXPECT_EQ(list_or_fail(*source).opened, before.opened + 1);
}

TEST(NvmlReload, AProbeThatFindsTheDriverGoneLetsGoOfIt) {
  FakeDriver driver(R"({"gpus": [{"uuid": "GPU-a"}]})");
  const auto source = driver.source();
  list_or_fail(*source);
  driver.say(R"({"driver": {"loaded": false}, "gpus": [{"uuid": "GPU-a"}]})");
  EXPECT_THAT(source->probe("GPU-a").detail, HasSubstr("Driver Not Loaded"));
  EXPECT_THAT(source->probe("GPU-a").detail, HasSubstr("no NVIDIA driver is open"));
}

TEST(NvmlReload, EventsComeFromTheNewDriver) {
  FakeDriver driver(R"({"driver": {"load": 1}, "gpus": [{"uuid": "GPU-a"}]})");
  const auto source = driver.source();
  list_or_fail(*source);
  auto events = std::async(std::launch::async, [&] { return source->wait_events(kLoadHang, {}); });
  driver.say(R"({"driver": {"version": "560.35.03"}, "gpus": [{"uuid": "GPU-a"}]})");
  list_or_fail(*source);
  driver.say(R"({"driver": {"version": "560.35.03"}, "gpus": [{"uuid": "GPU-a"}],
                 "xids": [{"sequence": 1, "gpu": 0, "xid": 79}]})");
  EXPECT_THAT(events.get(), ElementsAre(Field(&inventory::ErrorEvent::code, 79U)));
}

// A GPU that did not answer for a while makes us open NVML anew, but the kernel shows that nothing was
// reloaded.
TEST(NvmlReload, TheKernelTellsAReloadFromATrouble) {
  FakeDriver driver(R"({"gpus": [{"uuid": "GPU-a"}]})");
  driver.write_sysfs("module/nvidia/version", "550.54.15");
  const auto source = driver.source();
  const inventory::Inventory before = list_or_fail(*source);
  driver.say(R"({"gpus": [{"uuid": "GPU-a", "state": "failing"}]})");
  EXPECT_FALSE(source->list());
  driver.say(R"({"gpus": [{"uuid": "GPU-a"}]})");
  EXPECT_EQ(list_or_fail(*source).opened, before.opened);

  std::filesystem::rename(driver.sysfs() / "module/nvidia", driver.sysfs() / "module/before");
  driver.write_sysfs("module/nvidia/version", "550.54.15");
  driver.say(R"({"driver": {"load": 2}, "gpus": [{"uuid": "GPU-a"}]})");
  EXPECT_EQ(list_or_fail(*source).opened, before.opened + 1);
}

// A machine with a driver of its own beside the one that NVML tells of.
TEST(NvmlReload, AModuleOfAnotherVersionTellsNothing) {
  FakeDriver driver(R"({"driver": {"load": 1}, "gpus": [{"uuid": "GPU-a"}]})");
  driver.write_sysfs("module/nvidia/version", "470.00");
  const auto source = driver.source();
  const inventory::Inventory before = list_or_fail(*source);
  driver.say(R"({"driver": {"load": 2}, "gpus": [{"uuid": "GPU-a"}]})");
  EXPECT_EQ(list_or_fail(*source).opened, before.opened + 1);
}

TEST(NvmlReload, AReplacedLibraryIsLoaded) {
  const FakeDriver driver(R"({"gpus": [{"uuid": "GPU-a", "pciBus": 1}]})");
  const auto library = driver.directory() / "libnvidia-ml.so.1";
  std::filesystem::copy_file(old_fake_library(), library);
  const auto source = driver.source(library.string());
  EXPECT_EQ(list_or_fail(*source).gpus.at(0).pci_bus_id, "");
  const auto draft = driver.directory() / "new.so";
  std::filesystem::copy_file(fake_library(), draft);
  std::filesystem::rename(draft, library);
  EXPECT_EQ(list_or_fail(*source).gpus.at(0).pci_bus_id, "00000000:01:00.0");
}

TEST(NvmlReload, TheLibraryIsUnloadedInTheEnd) {
  const FakeDriver driver(R"({"gpus": [{"uuid": "GPU-a"}]})");
  {
    const auto source = driver.source();
    list_or_fail(*source);
    void* loaded = dlopen(fake_library().c_str(), RTLD_NOW | RTLD_NOLOAD);
    ASSERT_NE(loaded, nullptr);
    dlclose(loaded);
  }
  EXPECT_EQ(dlopen(fake_library().c_str(), RTLD_NOW | RTLD_NOLOAD), nullptr);
}

TEST(NvmlReload, ManyThreadsMayAskMeanwhile) {
  FakeDriver driver(R"({"gpus": [{"uuid": "GPU-a"}]})");
  const auto source = driver.source();
  list_or_fail(*source);
  std::atomic<int> answers = 0;
  {
    std::array<std::jthread, 3> threads{std::jthread([&](const std::stop_token& stop) {
                                          while (!stop.stop_requested())
                                            answers += source->usage("GPU-a") ? 1 : 0;
                                        }),
                                        std::jthread([&](const std::stop_token& stop) {
                                          while (!stop.stop_requested())
                                            answers += source->probe("GPU-a").detail.empty() ? 1 : 0;
                                        }),
                                        std::jthread([&](const std::stop_token& stop) {
                                          while (!stop.stop_requested()) source->wait_events(1ms, stop);
                                        })};
    for (int load = 2; load < 20; ++load) {
      driver.say(R"({"driver": {"load": )" + std::to_string(load) + R"(}, "gpus": [{"uuid": "GPU-a"}]})");
      EXPECT_EQ(list_or_fail(*source).opened, load);
    }
  }
  EXPECT_GT(answers, 0);
}

}  // namespace
}  // namespace gpupool::nvidia
