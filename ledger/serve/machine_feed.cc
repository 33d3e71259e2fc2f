// SPDX-License-Identifier: Apache-2.0
#include "serve/machine_feed.h"

#include <array>
#include <cstdint>
#include <utility>

#include "api/meta/object_meta.h"
#include "base/json.h"
#include "runtime/cache/watch_event.h"

namespace gpupool::ledger {
namespace {

// Of a GpuNode only the counters: the rest is large and of no use here.
struct ReportedUsage {
  std::int64_t busy = 0;
  std::int64_t sampled = 0;
  std::string since;
};
struct ReportedGpu {
  std::string uuid;
  ReportedUsage usage;
};
struct ReportedStatus {
  std::vector<ReportedGpu> gpus;
};
struct Report {
  api::ObjectMeta metadata;
  ReportedStatus status;
};

std::vector<GpuCounters> counters_in(const Report& report) {
  std::vector<GpuCounters> counters;
  for (const auto& gpu : report.status.gpus) {
    if (!gpu.usage.since.empty())
      counters.push_back({gpu.uuid, gpu.usage.since, gpu.usage.sampled, gpu.usage.busy});
  }
  return counters;
}

}  // namespace
}  // namespace gpupool::ledger

namespace gpupool::base::json {

template <>
struct Schema<ledger::ReportedUsage> {
  using T = ledger::ReportedUsage;
  static constexpr auto fields =
      std::array{field<&T::busy>("busyMilliseconds"), field<&T::sampled>("sampledMilliseconds"),
                 field<&T::since>("since")};
};
template <>
struct Schema<ledger::ReportedGpu> {
  using T = ledger::ReportedGpu;
  static constexpr auto fields = std::array{field<&T::uuid>("uuid"), field<&T::usage>("usage")};
};
template <>
struct Schema<ledger::ReportedStatus> {
  using T = ledger::ReportedStatus;
  static constexpr auto fields = std::array{field<&T::gpus>("gpus")};
};
template <>
struct Schema<ledger::Report> {
  using T = ledger::Report;
  static constexpr auto fields = std::array{field<&T::metadata>("metadata"), field<&T::status>("status")};
};

}  // namespace gpupool::base::json

namespace gpupool::ledger {

base::Result<void> MachineFeed::item(std::string_view text) {
  const auto report = base::json::read<Report>(text);
  if (!report) return tl::unexpected<base::Error>(report.error());
  const base::MutexLock lock(mutex_);
  newest_[report->metadata.name] = counters_in(*report);
  return {};
}

base::Result<std::string> MachineFeed::event(std::string_view /*type*/, std::string_view line) {
  const auto changed = base::json::read<runtime::WatchEvent<Report>>(line);
  if (!changed) return tl::unexpected<base::Error>(changed.error());
  const auto& report = changed->object;
  const base::MutexLock lock(mutex_);
  newest_[report.metadata.name] = counters_in(report);
  return report.metadata.resource_version;
}

std::vector<MachineTimes::Reading> MachineFeed::take() {
  std::map<std::string, std::vector<GpuCounters>> newest;
  {
    const base::MutexLock lock(mutex_);
    newest = std::exchange(newest_, {});
  }
  std::vector<MachineTimes::Reading> readings;
  readings.reserve(newest.size());
  for (auto& [node, gpus] : newest) readings.push_back({node, std::move(gpus)});
  return readings;
}

void MachineFeed::give_back(const std::vector<MachineTimes::Reading>& readings) {
  const base::MutexLock lock(mutex_);
  for (const auto& reading : readings) newest_.try_emplace(reading.node, reading.gpus);
}

}  // namespace gpupool::ledger
