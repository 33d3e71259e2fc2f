// SPDX-License-Identifier: Apache-2.0
#include "planning/workers/gang_quota.h"

#include <string_view>

#include "base/quantity.h"
#include "planning/nodes/resources.h"

namespace gpupool::planning {
namespace {

constexpr std::string_view kRequests = "requests.";
constexpr std::string_view kLimits = "limits.";

// Only the limits, in the place of requests.
std::vector<api::ForeignPodContainer> only_limits(std::vector<api::ForeignPodContainer> containers) {
  for (auto& container : containers) container.resources.requests.clear();
  return containers;
}

Resources limits_of(const api::ForeignPodSpec& spec) {
  return requests_of(only_limits(spec.containers), only_limits(spec.init_containers));
}

// What a quota counts by name, of one worker, in the units of Resources.
struct Counted {
  std::string resource;  // decides the unit
  std::int64_t amount = 0;
};

Counted counted_as(const std::string& name, const Resources& requests, const Resources& limits) {
  if (name == "pods" || name == "count/pods") return {"pods", 1};
  if (name.starts_with(kLimits)) {
    const auto resource = name.substr(kLimits.size());
    return {resource, limits.of(resource)};
  }
  const auto resource = name.starts_with(kRequests) ? name.substr(kRequests.size()) : name;
  return {resource, requests.of(resource)};
}

std::int64_t read_amount(const std::string& resource, const std::string& quantity) {
  Resources one;
  one.read(resource, quantity);
  return one.of(resource);
}

std::string quantity_text(const std::string& resource, std::int64_t amount) {
  if (resource == "cpu")
    return amount % 1000 == 0 ? std::to_string(amount / 1000) : std::to_string(amount) + "m";
  const bool bytes = resource == "memory" || resource == "ephemeral-storage";
  return bytes ? base::format_binary(amount) : std::to_string(amount);
}

}  // namespace

std::string exceeded_quota(const std::vector<api::ResourceQuota>& quotas, const api::ForeignPod& worker,
                           std::int64_t workers) {
  auto requests = requests_of(worker.spec.containers, worker.spec.init_containers);
  requests += requests_of(api::TemplateResources{worker.spec.overhead, {}});
  const auto limits = limits_of(worker.spec);
  for (const auto& quota : quotas) {
    if (!quota.spec.scopes.empty() || !quota.spec.scope_selector.empty()) continue;
    for (const auto& [name, hard] : quota.status.hard) {
      const auto each = counted_as(name, requests, limits);
      if (each.amount == 0) continue;
      const auto used = quota.status.used.find(name);
      const auto used_text = used == quota.status.used.end() ? std::string("0") : used->second;
      const auto left = read_amount(each.resource, hard) - read_amount(each.resource, used_text);
      if (left / each.amount >= workers) continue;
      const auto all = quantity_text(each.resource, each.amount * workers);
      return "exceeded quota: " + quota.metadata.name + ", requested by all " + std::to_string(workers) +
             " workers: " + name + "=" + all + ", used: " + name + "=" + used_text + ", limited: " + name +
             "=" + hard;
    }
  }
  return "";
}

}  // namespace gpupool::planning
