// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include "tests/unit/device-plugin/nvidia/fake_driver.h"

namespace gpupool::nvidia {
namespace {

using testing::HasSubstr;

inventory::Probe probe_of(const std::string& gpu) {
  FakeDriver driver(R"({"gpus": [{"uuid": "GPU-a"}, {"uuid": "GPU-other"}]})");
  const auto source = driver.source();
  list_or_fail(*source);
  driver.say(R"({"gpus": [{"uuid": "GPU-a", )" + gpu + R"(}, {"uuid": "GPU-other"}]})");
  return source->probe("GPU-a");
}

TEST(NvmlProbe, AHealthyGpuIsAlive) {
  EXPECT_EQ(probe_of(R"("state": "ok", "recoveryAction": 0)").result, inventory::Probe::Result::kAlive);
}

TEST(NvmlProbe, OffTheBusIsLost) {
  const inventory::Probe probe = probe_of(R"("state": "lost")");
  EXPECT_EQ(probe.result, inventory::Probe::Result::kLost);
  EXPECT_THAT(probe.detail, HasSubstr("GPU is lost"));
}

TEST(NvmlProbe, ErrorsAreFailing) {
  const inventory::Probe probe = probe_of(R"("state": "failing")");
  EXPECT_EQ(probe.result, inventory::Probe::Result::kFailing);
  EXPECT_THAT(probe.detail, HasSubstr("Unknown Error"));
  EXPECT_FALSE(probe.needs_reset);
}

TEST(NvmlProbe, ResetRequired) {
  const inventory::Probe probe = probe_of(R"("state": "reset-required")");
  EXPECT_EQ(probe.result, inventory::Probe::Result::kFailing);
  EXPECT_TRUE(probe.needs_reset);
}

TEST(NvmlProbe, TheDriversWishForAResetCounts) {
  for (const int action : {1, 2, 4}) {
    const inventory::Probe probe = probe_of(R"("recoveryAction": )" + std::to_string(action));
    EXPECT_EQ(probe.result, inventory::Probe::Result::kFailing) << action;
    EXPECT_TRUE(probe.needs_reset) << action;
    EXPECT_THAT(probe.detail, HasSubstr("the driver asks")) << action;
  }
  EXPECT_EQ(probe_of(R"("recoveryAction": 3)").result,
            inventory::Probe::Result::kAlive);  // drain peer-to-peer traffic
}

TEST(NvmlProbe, AMemoryRowThatCouldNotBeReplaced) {
  const inventory::Probe probe = probe_of(R"("remappingFailed": true)");
  EXPECT_EQ(probe.result, inventory::Probe::Result::kFailing);
  EXPECT_THAT(probe.detail, HasSubstr("row"));
  EXPECT_FALSE(probe.needs_reset);
}

TEST(NvmlProbe, AGpuThatIsNotListedIsLost) {
  const FakeDriver driver(R"({"gpus": [{"uuid": "GPU-a"}]})");
  const auto source = driver.source();
  list_or_fail(*source);
  EXPECT_EQ(source->probe("GPU-b").result, inventory::Probe::Result::kLost);
}

TEST(NvmlProbe, WithoutADriverAGpuFails) {
  const FakeDriver driver(R"({"gpus": [{"uuid": "GPU-a"}]})");
  const auto source = driver.source();
  const inventory::Probe probe = source->probe("GPU-a");
  EXPECT_EQ(probe.result, inventory::Probe::Result::kFailing);
  EXPECT_THAT(probe.detail, HasSubstr("no NVIDIA driver"));
}

TEST(NvmlUsage, TellsTheReadingsOfNow) {
  FakeDriver driver(R"({"gpus": [{"uuid": "GPU-a"}]})");
  const auto source = driver.source();
  list_or_fail(*source);
  driver.say(R"({"gpus": [{"uuid": "GPU-a", "utilization": 87, "usedMiB": 1234, "temperature": 61,
                           "powerMilliwatts": 250500}]})");
  const auto usage = source->usage("GPU-a");
  ASSERT_TRUE(usage);
  EXPECT_EQ(usage->gpu_percent, 87);
  EXPECT_EQ(usage->memory_used_mib, 1234);
  EXPECT_EQ(usage->temperature_celsius, 61);
  EXPECT_EQ(usage->power_milliwatts, 250500);
}

TEST(NvmlUsage, WhatAGpuDoesNotOfferIsAbsent) {
  const FakeDriver driver(R"({"gpus": [{"uuid": "GPU-a", "mig": []}]})");
  const auto source = driver.source();
  list_or_fail(*source);
  const auto usage = source->usage("GPU-a");
  ASSERT_TRUE(usage);
  EXPECT_FALSE(usage->gpu_percent);
  EXPECT_TRUE(usage->temperature_celsius);
}

TEST(NvmlUsage, OfNoGpuIsAnError) {
  const FakeDriver driver(R"({"gpus": [{"uuid": "GPU-a"}]})");
  const auto source = driver.source();
  EXPECT_FALSE(source->usage("GPU-a"));  // not listed yet
  list_or_fail(*source);
  EXPECT_TRUE(source->usage("GPU-a"));
  EXPECT_FALSE(source->usage("GPU-b"));
}

}  // namespace
}  // namespace gpupool::nvidia
