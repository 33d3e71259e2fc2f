// SPDX-License-Identifier: Apache-2.0
#include "planning/tenants/bound_class.h"

#include <algorithm>
#include <array>

namespace gpupool::planning {
namespace {

constexpr std::int64_t kMinute = 60;
constexpr std::int64_t kHour = 60 * kMinute;
constexpr std::int64_t kDay = 24 * kHour;
constexpr std::array kClasses{1 * kMinute, 2 * kMinute, 5 * kMinute, 10 * kMinute, 15 * kMinute, 30 * kMinute,
                              1 * kHour,   2 * kHour,   4 * kHour,   8 * kHour,    12 * kHour,   1 * kDay,
                              2 * kDay,    4 * kDay,    7 * kDay,    14 * kDay};

}  // namespace

std::int64_t bound_class(const api::GpuJob& job) {
  const auto& deadline = job.spec.active_deadline_seconds;
  if (!deadline) return 0;
  const auto used = job.status.progress ? job.status.progress->active_seconds : 0;
  const auto left = std::max<std::int64_t>(1, *deadline - used);
  const auto* const found = std::ranges::lower_bound(kClasses, left);
  if (found != kClasses.end()) return *found;
  const auto longest = kClasses.back();
  return (left + longest - 1) / longest * longest;
}

}  // namespace gpupool::planning
