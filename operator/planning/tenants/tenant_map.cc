// SPDX-License-Identifier: Apache-2.0
#include "planning/tenants/tenant_map.h"

#include <algorithm>

namespace gpupool::planning {
namespace {

constexpr char kOthers[] = "others";
constexpr char kNamespace[] = "namespace/";

std::optional<MilliGpus> limit_of(const std::optional<std::int64_t>& gpus) {
  return gpus ? std::optional(*gpus * kMilli) : std::nullopt;
}

}  // namespace

TenantMap::TenantMap(const api::PoolQueueSpec& spec) {
  if (spec.others) others_ = *spec.others;
  listed_.reserve(spec.tenants.size());
  for (const auto& each : spec.tenants) {
    const auto index = listed_.size();
    listed_.push_back(
        {each.name, each.weight, each.guaranteed * kMilli, limit_of(each.limit), each.max_priority, false});
    by_name_.emplace(each.name, index);
    for (const auto& ns : each.namespaces) {
      if (ns.ends_with('*')) {
        beginnings_.emplace_back(ns.substr(0, ns.size() - 1), index);
      } else {
        exact_.emplace(ns, index);
      }
    }
  }
}

std::optional<std::size_t> TenantMap::index_of(const std::string& ns) const {
  std::optional<std::size_t> found;
  if (const auto exact = exact_.find(ns); exact != exact_.end()) found = exact->second;
  for (const auto& [beginning, index] : beginnings_) {
    if (ns.starts_with(beginning) && (!found || index < *found)) found = index;
  }
  return found;
}

Tenant TenantMap::other(std::string name) const {
  Tenant tenant;
  tenant.name = std::move(name);
  tenant.weight = others_.weight;
  tenant.limit = limit_of(others_.limit);
  tenant.refused = others_.mode == api::others_mode::kRefused;
  return tenant;
}

Tenant TenantMap::of(const std::string& ns) const {
  if (const auto index = index_of(ns)) return listed_[*index];
  const bool together = others_.mode == api::others_mode::kTogether;
  if (together) return other(kOthers);
  return other(by_name_.contains(ns) || ns == kOthers ? kNamespace + ns : ns);
}

Tenant TenantMap::named(const std::string& name) const {
  const auto listed = by_name_.find(name);
  return listed == by_name_.end() ? other(name) : listed_[listed->second];
}

}  // namespace gpupool::planning
