// SPDX-License-Identifier: Apache-2.0
#include "agent/exposition.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/device-plugin/kubelet/plugin_on_node.h"

namespace gpupool::agent {
namespace {

using test::kVgpu;
using testing::HasSubstr;
using testing::Not;

Snapshot snapshot_of(slices::Table table) {
  Snapshot snapshot;
  inventory::Gpu gpu;
  gpu.uuid = "GPU-0";
  gpu.model = "Fake \"X\"";
  gpu.memory_mib = 12000;
  snapshot.facts.inventory.gpus = {gpu};
  snapshot.facts.inventory.driver.version = "550.54.15";
  snapshot.facts.table = std::move(table);
  return snapshot;
}

TEST(ExpositionTest, TellsOfEachGpu) {
  auto snapshot = snapshot_of({});
  snapshot.facts.health["GPU-0"].healthy = false;
  snapshot.facts.telemetry.readings["GPU-0"] = {
      .gpu_percent = 7, .memory_used_mib = 1, .temperature_celsius = 61, .power_milliwatts = 250050};
  const auto text = expose(snapshot);
  EXPECT_THAT(text, HasSubstr("# TYPE gpupool_gpu_healthy gauge\ngpupool_gpu_healthy{gpu=\"GPU-0\"} 0\n"));
  EXPECT_THAT(text, HasSubstr("gpupool_gpu_utilization_ratio{gpu=\"GPU-0\"} 0.070\n"));
  EXPECT_THAT(text, HasSubstr("gpupool_gpu_memory_used_bytes{gpu=\"GPU-0\"} 1048576\n"));
  EXPECT_THAT(text, HasSubstr("gpupool_gpu_memory_total_bytes{gpu=\"GPU-0\"} 12582912000\n"));
  EXPECT_THAT(text, HasSubstr("gpupool_gpu_temperature_celsius{gpu=\"GPU-0\"} 61\n"));
  EXPECT_THAT(text, HasSubstr("gpupool_gpu_power_watts{gpu=\"GPU-0\"} 250.050\n"));
  EXPECT_THAT(text, HasSubstr("model=\"Fake \\\"X\\\"\""));
}

TEST(ExpositionTest, LeavesOutWhatAGpuDoesNotTell) {
  auto snapshot = snapshot_of({});
  snapshot.facts.telemetry.readings["GPU-0"] = {};
  EXPECT_THAT(expose(snapshot), Not(HasSubstr("gpupool_gpu_power_watts")));
  EXPECT_THAT(expose(snapshot), HasSubstr("gpupool_gpu_healthy{gpu=\"GPU-0\"} 1\n"));
}

TEST(ExpositionTest, CountsBusySecondsAlsoOfAGpuThatDoesNotAnswer) {
  auto snapshot = snapshot_of({});
  snapshot.facts.telemetry.busy["GPU-1"] = {
      .busy = std::chrono::milliseconds(61250), .sampled = std::chrono::minutes(2), .since = {}};
  const auto text = expose(snapshot);
  EXPECT_THAT(text, HasSubstr("# TYPE gpupool_gpu_busy_seconds_total counter\n"
                              "gpupool_gpu_busy_seconds_total{gpu=\"GPU-1\"} 61.250\n"));
  EXPECT_THAT(text, HasSubstr("# TYPE gpupool_gpu_sampled_seconds_total counter\n"
                              "gpupool_gpu_sampled_seconds_total{gpu=\"GPU-1\"} 120.000\n"));
}

TEST(ExpositionTest, TellsWhoHoldsASlice) {
  auto snapshot = snapshot_of(test::with_unhealthy_gpu(test::vgpu_table(2, 2), "GPU-1", "Xid79"));
  snapshot.facts.holdings = {{"team", "train-0", "main", kVgpu, {"GPU-0::1", "GPU-1::0"}},
                             {"team", "other", "main", "rdma/hca", {"GPU-0::0"}}};
  const auto text = expose(snapshot);
  EXPECT_THAT(
      text,
      HasSubstr(
          "slice=\"GPU-0::1\",gpu=\"GPU-0\",namespace=\"team\",pod=\"train-0\",container=\"main\"} 1\n"));
  EXPECT_THAT(text,
              HasSubstr("slice=\"GPU-0::0\",gpu=\"GPU-0\",namespace=\"\",pod=\"\",container=\"\"} 0\n"));
  const std::string sums = "gpupool_slices{resource=\"gpupool.dev/vgpu\",gpu=";
  EXPECT_THAT(text, HasSubstr(sums + "\"GPU-0\",state=\"allocated\"} 1\n"));
  EXPECT_THAT(text, HasSubstr(sums + "\"GPU-0\",state=\"free\"} 1\n"));
  EXPECT_THAT(text, HasSubstr(sums + "\"GPU-1\",state=\"allocated\"} 1\n"));
  EXPECT_THAT(text, HasSubstr(sums + "\"GPU-1\",state=\"unhealthy\"} 1\n"));
}

TEST(ExpositionTest, IsBounded) {
  const auto text = expose(snapshot_of(test::vgpu_table(40, 100)));
  std::size_t lines = 0;
  for (auto at = text.find("\ngpupool_slice_allocated{"); at != std::string::npos;
       at = text.find("\ngpupool_slice_allocated{", at + 1)) {
    ++lines;
  }
  EXPECT_EQ(lines, 2000U);
  EXPECT_THAT(text, HasSubstr("gpu=\"GPU-39\",state=\"free\"} 100\n"));
}

}  // namespace
}  // namespace gpupool::agent
