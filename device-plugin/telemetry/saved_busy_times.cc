// SPDX-License-Identifier: Apache-2.0
#include "telemetry/saved_busy_times.h"

#include <array>
#include <cstdint>
#include <utility>

#include "base/json.h"
#include "base/rfc3339.h"

namespace gpupool::telemetry {
namespace {

constexpr std::int64_t kBusyTimesVersion = 1;
// So that what is added later does not overflow.
constexpr std::int64_t kMostNanoseconds = std::chrono::nanoseconds(std::chrono::years(100)).count();

struct SavedBusyTime {
  std::int64_t busy_nanoseconds = -1;
  std::int64_t sampled_nanoseconds = -1;
  base::WallTime since = {};
};

struct SavedBusyTimes {
  std::int64_t version = 0;
  std::string boot_id;
  std::map<std::string, SavedBusyTime> gpus;
};

}  // namespace
}  // namespace gpupool::telemetry

namespace gpupool::base::json {

template <>
struct Schema<telemetry::SavedBusyTime> {
  using T = telemetry::SavedBusyTime;
  static constexpr auto fields =
      std::array{field<&T::busy_nanoseconds>("busyNanoseconds"),
                 field<&T::sampled_nanoseconds>("sampledNanoseconds"), field<&T::since>("since")};
};

template <>
struct Schema<telemetry::SavedBusyTimes> {
  using T = telemetry::SavedBusyTimes;
  static constexpr auto fields =
      std::array{field<&T::version>("version"), field<&T::boot_id>("bootID"), field<&T::gpus>("gpus")};
};

}  // namespace gpupool::base::json

namespace gpupool::telemetry {
namespace {

std::string nanoseconds(base::Duration time) {
  return std::to_string(std::chrono::duration_cast<std::chrono::nanoseconds>(time).count());
}

}  // namespace

std::string write_busy_times(const std::map<std::string, BusyTime>& times, const std::string& boot_id) {
  using base::json::quote;
  std::string text = "{\"version\": " + std::to_string(kBusyTimesVersion) +
                     ", \"bootID\": " + quote(boot_id) + ", \"gpus\": {";
  const char* separator = "\n  ";
  for (const auto& [gpu, time] : times) {
    text += separator + quote(gpu) + ": {\"busyNanoseconds\": " + nanoseconds(time.busy) +
            ", \"sampledNanoseconds\": " + nanoseconds(time.sampled) +
            ", \"since\": " + quote(base::to_rfc3339(time.since)) + "}";
    separator = ",\n  ";
  }
  return text + "}}\n";
}

base::Result<std::map<std::string, BusyTime>> read_busy_times(const std::string& text,
                                                              const std::string& boot_id) {
  auto saved = base::json::read<SavedBusyTimes>(text);
  if (!saved) return tl::unexpected(std::move(saved.error()));
  if (saved->version != kBusyTimesVersion) {
    return base::fail(base::ErrorCode::kParse,
                      "saved busy times have version " + std::to_string(saved->version) + ", not 1");
  }
  std::map<std::string, BusyTime> times;
  if (saved->boot_id != boot_id || boot_id.empty()) return times;
  for (auto& [gpu, time] : saved->gpus) {
    if (time.busy_nanoseconds < 0 || time.sampled_nanoseconds < time.busy_nanoseconds ||
        time.sampled_nanoseconds > kMostNanoseconds) {
      return base::fail(base::ErrorCode::kParse, "saved busy times of " + gpu + " are not possible");
    }
    times[gpu] = {.busy = std::chrono::nanoseconds(time.busy_nanoseconds),
                  .sampled = std::chrono::nanoseconds(time.sampled_nanoseconds),
                  .since = time.since};
  }
  return times;
}

}  // namespace gpupool::telemetry
