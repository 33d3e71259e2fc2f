// SPDX-License-Identifier: Apache-2.0
#include "planning/tenants/tenant_book.h"

#include <algorithm>
#include <charconv>
#include <utility>

namespace gpupool::planning {
namespace {

std::int64_t number_in(const std::string& text) {
  std::int64_t value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return std::max<std::int64_t>(0, value);
}

}  // namespace

TenantBook::TenantBook(const api::PoolQueueSpec& spec, const api::QueueStatus& stored, base::WallTime now)
    : map_(spec), half_life_(spec.half_life_seconds) {
  const auto as_of = std::min(stored.as_of.value_or(now), now);
  for (const auto& each : stored.tenants) usage_of(each.name, as_of).restore(number_in(each.usage), as_of);
}

// With another half-life, what was used counts as if it had always been that one.
void TenantBook::change(const api::PoolQueueSpec& spec, base::WallTime now) {
  map_ = TenantMap(spec);
  if (spec.half_life_seconds == half_life_) return;
  half_life_ = spec.half_life_seconds;
  for (auto& [name, usage] : usage_) {
    TenantUsage anew(half_life_, now);
    anew.restore(usage.used(now), now);
    anew.add_held(usage.held(), now);
    usage = anew;
  }
}

TenantUsage& TenantBook::usage_of(const std::string& tenant, base::WallTime now) {
  return usage_.try_emplace(tenant, half_life_, now).first->second;
}

void TenantBook::hold(const api::ObjectKey& job, const std::string& tenant, MilliGpus amount,
                      base::WallTime since) {
  const auto known = holds_.find(job);
  if (known != holds_.end()) {
    const auto& hold = known->second;
    if (!hold.claimed && hold.tenant == tenant && hold.amount == amount) return;
    release(job, since);
  }
  holds_[job] = {tenant, amount, false};
  usage_of(tenant, since).add_held(amount, since);
}

void TenantBook::claim(const api::ObjectKey& job, const std::string& tenant, MilliGpus amount,
                       base::WallTime now) {
  release(job, now);
  holds_[job] = {tenant, amount, true};
  claimed_[tenant] += amount;
}

void TenantBook::release(const api::ObjectKey& job, base::WallTime now) {
  const auto known = holds_.find(job);
  if (known == holds_.end()) return;
  const auto& hold = known->second;
  if (!hold.claimed) {
    usage_of(hold.tenant, now).add_held(-hold.amount, now);
  } else {
    auto& claimed = claimed_[hold.tenant];
    claimed -= hold.amount;
    if (claimed == 0) claimed_.erase(hold.tenant);
  }
  holds_.erase(known);
}

void TenantBook::release_others(const std::set<api::ObjectKey>& jobs, base::WallTime now) {
  std::vector<api::ObjectKey> gone;
  for (const auto& [job, hold] : holds_) {
    if (!jobs.contains(job)) gone.push_back(job);
  }
  for (const auto& job : gone) release(job, now);
}

TenantBook::Share TenantBook::share(const std::string& tenant, base::WallTime now) {
  Share share{map_.named(tenant)};
  if (const auto claimed = claimed_.find(tenant); claimed != claimed_.end()) share.held = claimed->second;
  const auto known = usage_.find(tenant);
  if (known == usage_.end()) return share;
  share.average = known->second.average_held(now);
  share.held += known->second.held();
  return share;
}

std::vector<api::TenantStatus> TenantBook::statuses(const std::map<std::string, std::int64_t>& queued,
                                                    std::size_t others, base::WallTime now) {
  const auto status_of = [&](const std::string& name) {
    const auto waiting = queued.find(name);
    api::TenantStatus status{name, waiting == queued.end() ? 0 : waiting->second, "0", "0", "0"};
    const auto known = usage_.find(name);
    if (known == usage_.end()) return status;
    status.held = amount_text(known->second.held());
    status.average_held = amount_text(known->second.average_held(now));
    status.usage = std::to_string(known->second.used(now));
    return status;
  };
  std::set<std::string> listed;
  std::vector<api::TenantStatus> found;
  for (const auto& tenant : map_.listed()) {
    listed.insert(tenant.name);
    found.push_back(status_of(tenant.name));
  }
  std::set<std::string> names;
  for (const auto& [name, count] : queued) names.insert(name);
  for (const auto& [name, usage] : usage_) names.insert(name);
  std::vector<std::pair<std::pair<MilliGpus, std::int64_t>, std::string>> rest;
  for (const auto& name : names) {
    if (listed.contains(name)) continue;
    const auto known = usage_.find(name);
    const bool idle = known == usage_.end() || (known->second.held() == 0 && known->second.used(now) == 0);
    if (idle && !queued.contains(name)) continue;
    rest.push_back({{known == usage_.end() ? 0 : -known->second.held(),
                     known == usage_.end() ? 0 : -known->second.used(now)},
                    name});
  }
  std::ranges::sort(rest);
  if (rest.size() > others) rest.resize(others);
  for (const auto& [most, name] : rest) found.push_back(status_of(name));
  return found;
}

}  // namespace gpupool::planning
