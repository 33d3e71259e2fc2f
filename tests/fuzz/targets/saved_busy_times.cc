// SPDX-License-Identifier: Apache-2.0
#include "telemetry/saved_busy_times.h"

#include "telemetry/busy_times.h"
#include "tests/fuzz/property.h"

using gpupool::fuzz::require;
namespace telemetry = gpupool::telemetry;

// The boot, a line, then the file.
void fuzz_saved_busy_times(std::string_view input) {
  const auto boot = gpupool::fuzz::take_line(input);
  const std::string text(input);
  telemetry::BusyTimes busy;
  const auto restored = busy.restore(text, boot);
  if (!restored) {
    gpupool::fuzz::require_explained(restored.error());
    require(busy.all().empty(), "what cannot be read changes nothing");
    return;
  }
  const auto again = telemetry::read_busy_times(busy.save(boot), boot);
  require(again.has_value(), "what is written can be read");
  require(telemetry::write_busy_times(*again, boot) == busy.save(boot), "parse(print(x)) == x");
  gpupool::base::SteadyTime now{};
  for (int second = 0; second < 2; ++second, now += std::chrono::seconds(1)) {
    std::map<std::string, gpupool::inventory::Usage> readings;
    for (const auto& [gpu, time] : busy.all()) readings[gpu].gpu_percent = 100;
    busy.add(readings, now, {});
  }
  for (const auto& [gpu, time] : *again) {
    require(busy.all().at(gpu).busy == time.busy + std::chrono::seconds(1), "counts on");
  }
}
