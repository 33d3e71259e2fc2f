// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "settings/load.h"

namespace gpupool::settings {
namespace {

TEST(ParseSettings, TheVersionAloneGivesTheDefaults) {
  const auto settings = parse("version: v1\n");
  ASSERT_TRUE(settings.has_value()) << settings.error().message;
  EXPECT_EQ(*settings, Settings{});
  EXPECT_EQ(settings->split.count, 10);
  EXPECT_EQ(settings->split.memory_scaling, 1000);
  EXPECT_EQ(settings->split.core_scaling, 1000);
}

TEST(ParseSettings, EveryKeyIsRead) {
  const auto settings = parse(R"(
version: v1
resourceName: example.com/gpu-part
allocationPolicy: spread
deviceSplitCount: 4
deviceMemoryScaling: 1.5
deviceCoreScaling: 0.25
overrides:
- match: {node: gpu-7, model: NVIDIA A100-SXM4-40GB}
  deviceSplitCount: 7
- match:
    uuid: GPU-5f3a
    index: 3
  deviceMemoryScaling: 2
  deviceCoreScaling: 100
- match: {index: 4}
  enforce: none
- match: {index: 5}
  contextMiB: 0
  memoryWaitSeconds: 3600
  audit:
    toleranceMiB: 1048576
    onExcess: report
mig: true
health:
  recoveryProbes: 5
  recoverySeconds: 0
  xids:
    "79": untilReset
    31: ignore
    48: unhealthy
passing: {environment: false, deviceNodes: true, cdiDevices: true, cdiAnnotations: true}
cdiPrefix: k8s.device-plugin.nvidia.com/gpu
driverRoot: /run/nvidia/driver/
enforce: library
contextMiB: 512
memoryWaitSeconds: 30
audit: {toleranceMiB: 0, onExcess: end}
)");
  ASSERT_TRUE(settings.has_value()) << settings.error().message;
  Settings expected;
  expected.resource_name = "example.com/gpu-part";
  expected.policy = Policy::kSpread;
  expected.split = {.count = 4, .memory_scaling = 1500, .core_scaling = 250};
  expected.overrides = {
      {.match = {.node = "gpu-7", .uuid = "", .model = "NVIDIA A100-SXM4-40GB", .index = {}},
       .count = 7,
       .memory_scaling = {},
       .core_scaling = {}},
      {.match = {.node = "", .uuid = "GPU-5f3a", .model = "", .index = 3},
       .count = {},
       .memory_scaling = 2000,
       .core_scaling = 100'000},
      {.match = {.node = "", .uuid = "", .model = "", .index = 4},
       .count = {},
       .memory_scaling = {},
       .core_scaling = {},
       .enforcement = {Enforce::kNone, {}, {}, {}, {}}},
      {.match = {.node = "", .uuid = "", .model = "", .index = 5},
       .count = {},
       .memory_scaling = {},
       .core_scaling = {},
       .enforcement = {{}, 0, 3600, 1'048'576, OnExcess::kReport}}};
  expected.mig = true;
  expected.error_rules = {
      {79, ErrorAction::kUntilReset}, {31, ErrorAction::kIgnore}, {48, ErrorAction::kUnhealthy}};
  expected.recovery_probes = 5;
  expected.recovery_seconds = 0;
  expected.passing = {
      .environment = false, .device_nodes = true, .cdi_devices = true, .cdi_annotations = true};
  expected.cdi_prefix = "k8s.device-plugin.nvidia.com/gpu";
  expected.driver_root = "/run/nvidia/driver";
  expected.enforcement = {Enforce::kLibrary, 512, 30, 0, OnExcess::kEnd};
  EXPECT_EQ(*settings, expected);
}

TEST(ParseSettings, WithoutItsKeysNothingIsEnforced) {
  const auto settings = parse("version: v1\naudit: {}\n");
  ASSERT_TRUE(settings.has_value()) << settings.error().message;
  EXPECT_EQ(settings->enforcement, (Enforcement{Enforce::kNone, 0, 0, 64, OnExcess::kReport}));
}

TEST(ParseSettings, WindowsLinesJsonAndADocumentMarkerAreFine) {
  const auto lines = parse("---\r\nversion: v1\r\ndeviceSplitCount: 2\r\n");
  ASSERT_TRUE(lines.has_value()) << lines.error().message;
  EXPECT_EQ(lines->split.count, 2);
  const auto json = parse(R"({"version": "v1", "deviceSplitCount": 3, "mig": false})");
  ASSERT_TRUE(json.has_value()) << json.error().message;
  EXPECT_EQ(json->split.count, 3);
}

TEST(ParseSettings, ScalingsAreThousandths) {
  const std::vector<std::pair<std::string, Milli>> cases = {
      {"1", 1000},      {"1.5", 1500},        {"0.001", 1}, {"1.05", 1050},
      {"100", 100'000}, {"100.000", 100'000}, {"01", 1000}};
  for (const auto& [text, milli] : cases) {
    const auto settings = parse("version: v1\ndeviceMemoryScaling: " + text + "\n");
    ASSERT_TRUE(settings.has_value()) << settings.error().message;
    EXPECT_EQ(settings->split.memory_scaling, milli) << text;
  }
}

}  // namespace
}  // namespace gpupool::settings
