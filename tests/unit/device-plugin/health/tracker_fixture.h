// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gmock/gmock.h>

#include <string>
#include <vector>

#include "health/health_tracker.h"
#include "nvidia/xid_catalogue.h"

namespace gpupool::health {

// A tracker with two GPUs that are well, at a time that only moves when told.
class HealthTrackerTest : public testing::Test {
 protected:
  HealthTrackerTest() { list({"GPU-a", "GPU-b"}); }

  void list(const std::vector<std::string>& uuids, bool reloaded = false) {
    std::vector<inventory::Gpu> gpus(uuids.size());
    for (std::size_t i = 0; i < uuids.size(); ++i) gpus[i].uuid = uuids[i];
    tracker.listed(gpus, reloaded, now);
  }
  void xid(const std::string& gpu, std::uint64_t number) { tracker.error({.gpu = gpu, .code = number}, now); }
  void alive(const std::string& gpu) { tracker.probe(gpu, {}, now); }
  void failing(const std::string& gpu) {
    tracker.probe(gpu, {.result = inventory::Probe::Result::kFailing, .detail = "Unknown Error"}, now);
  }
  void lost(const std::string& gpu) {
    tracker.probe(gpu, {.result = inventory::Probe::Result::kLost, .detail = "GPU is lost"}, now);
  }
  void reset_needed(const std::string& gpu) {
    tracker.probe(gpu,
                  {.result = inventory::Probe::Result::kFailing,
                   .detail = "the driver asks for a reset of the GPU",
                   .needs_reset = true},
                  now);
  }
  void pass(int seconds) { now += std::chrono::seconds(seconds); }
  // Probes every second, all clean.
  void clean_seconds(const std::string& gpu, int seconds) {
    for (int i = 0; i < seconds; ++i) {
      pass(1);
      alive(gpu);
    }
  }
  const GpuHealth& state(const std::string& gpu) const { return tracker.states().at(gpu); }

  settings::Settings settings;  // 3 clean probes, 10 s
  const ErrorCatalogue errors = nvidia::xid_catalogue();
  HealthTracker tracker{settings, errors};
  base::WallTime now{std::chrono::seconds(1767323045)};
};

}  // namespace gpupool::health
