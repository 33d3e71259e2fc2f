// SPDX-License-Identifier: Apache-2.0
#include "planning/tenants/tenant_usage.h"

#include <chrono>

#include "base/wide.h"

namespace gpupool::planning {
namespace {

constexpr std::int64_t kTicks = 1024;  // decays in a half-life
constexpr std::int64_t kMs = 1000;
// What is left after one decay: 2^(-1/1024), times 2^32.
constexpr unsigned kShift = 32;
constexpr std::int64_t kLeft = 4'292'061'010;
// The sum over all decays of what is left of 1: 1024 / ln 2. An amount that is held for ever grows to so many
// times what is held in one tick.
constexpr std::int64_t kSum = 1477;

std::int64_t milliseconds(base::WallTime time) {
  return std::chrono::floor<std::chrono::milliseconds>(time.time_since_epoch()).count();
}

std::int64_t decayed(std::int64_t used) {
  return static_cast<std::int64_t>(base::product(used, kLeft) >> kShift);
}

}  // namespace

TenantUsage::TenantUsage(std::int64_t half_life_seconds, base::WallTime now)
    : tick_ms_((half_life_seconds + kTicks - 1) / kTicks * kMs), at_ms_(milliseconds(now)) {}

void TenantUsage::advance(base::WallTime now) {
  const auto now_ms = milliseconds(now);
  while (at_ms_ < now_ms) {
    const auto decay_at = (at_ms_ / tick_ms_ + 1) * tick_ms_;
    if (now_ms < decay_at) {
      recent_ms_ += held_ * (now_ms - at_ms_);
      at_ms_ = now_ms;
      return;
    }
    if (held_ == 0 && used_ == 0 && recent_ms_ == 0) {
      at_ms_ = now_ms;
      return;
    }
    recent_ms_ += held_ * (decay_at - at_ms_);
    used_ = decayed(used_ + recent_ms_ / kMs);
    recent_ms_ = 0;
    at_ms_ = decay_at;
  }
}

void TenantUsage::add_held(MilliGpus more, base::WallTime now) {
  advance(now);
  held_ += more;
}

std::int64_t TenantUsage::used(base::WallTime now) {
  advance(now);
  return used_ + recent_ms_ / kMs;
}

void TenantUsage::restore(std::int64_t used, base::WallTime then) {
  at_ms_ = milliseconds(then);
  used_ = used;
  recent_ms_ = 0;
}

MilliGpus TenantUsage::average_held(base::WallTime now) { return used(now) / (kSum * (tick_ms_ / kMs)); }

}  // namespace gpupool::planning
