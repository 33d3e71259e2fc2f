// SPDX-License-Identifier: Apache-2.0
#include "planning/tenants/queue_validation.h"

#include <set>

namespace gpupool::planning {
namespace {

constexpr std::int64_t kMaxWeight = 1000;
constexpr std::int64_t kMaxGpus = 1'000'000;
constexpr std::size_t kMaxTenants = 128;
constexpr std::int64_t kMinHalfLife = 3600;
constexpr std::int64_t kMaxHalfLife = 31'536'000;
constexpr std::int64_t kMaxPercent = 10'000;

std::string number(const std::string& field, std::int64_t value, std::int64_t least, std::int64_t most) {
  if (value >= least && value <= most) return {};
  return field + " must be from " + std::to_string(least) + " to " + std::to_string(most);
}

std::string check_namespace(const std::string& field, const std::string& ns) {
  const auto star = ns.find('*');
  if (ns.empty()) return field + " must not be empty";
  if (star != std::string::npos && star + 1 != ns.size()) return field + ": only the last character may be *";
  return {};
}

std::string check_tenant(const std::string& field, const api::QueueTenant& tenant) {
  if (tenant.name.empty()) return field + ".name must not be empty";
  if (tenant.name == "others" || tenant.name.find('/') != std::string::npos)
    return field + ".name must not be \"others\" and must not contain a /";
  if (tenant.namespaces.empty()) return field + ".namespaces must not be empty";
  for (std::size_t i = 0; i < tenant.namespaces.size(); ++i) {
    const auto of_namespace = field + ".namespaces[" + std::to_string(i) + "]";
    if (auto problem = check_namespace(of_namespace, tenant.namespaces[i]); !problem.empty()) return problem;
  }
  if (auto problem = number(field + ".weight", tenant.weight, 1, kMaxWeight); !problem.empty())
    return problem;
  if (auto problem = number(field + ".guaranteed", tenant.guaranteed, 0, kMaxGpus); !problem.empty())
    return problem;
  if (!tenant.limit) return {};
  if (auto problem = number(field + ".limit", *tenant.limit, 0, kMaxGpus); !problem.empty()) return problem;
  return *tenant.limit < tenant.guaranteed ? field + ".limit must not be less than guaranteed" : "";
}

std::string check_tenants(const api::PoolQueueSpec& spec) {
  if (spec.tenants.size() > kMaxTenants)
    return "tenants: at most " + std::to_string(kMaxTenants) + " are possible";
  std::set<std::string> names;
  for (std::size_t i = 0; i < spec.tenants.size(); ++i) {
    const auto field = "tenants[" + std::to_string(i) + "]";
    if (auto problem = check_tenant(field, spec.tenants[i]); !problem.empty()) return problem;
    if (!names.insert(spec.tenants[i].name).second)
      return field + ".name: there is a tenant \"" + spec.tenants[i].name + "\" before it";
  }
  return {};
}

std::string check_others(const api::QueueOthers& others) {
  const auto& mode = others.mode;
  if (!mode.empty() && mode != api::others_mode::kEachNamespace && mode != api::others_mode::kTogether &&
      mode != api::others_mode::kRefused)
    return "others.mode must be EachNamespace, Together or Refused";
  if (auto problem = number("others.weight", others.weight, 1, kMaxWeight); !problem.empty()) return problem;
  return others.limit ? number("others.limit", *others.limit, 0, kMaxGpus) : "";
}

std::string check_yield(const api::QueueYield& yield) {
  constexpr std::int64_t kMaxSeconds = 2'592'000;
  constexpr std::int64_t kMaxMargin = 1000;
  if (auto problem = number("yield.minRunSeconds", yield.min_run_seconds, 0, kMaxSeconds); !problem.empty())
    return problem;
  if (auto problem = number("yield.shareMinRunSeconds", yield.share_min_run_seconds, 0, kMaxSeconds);
      !problem.empty())
    return problem;
  if (auto problem = number("yield.patienceSeconds", yield.patience_seconds, 0, kMaxSeconds);
      !problem.empty())
    return problem;
  return number("yield.marginPercent", yield.margin_percent, 0, kMaxMargin);
}

}  // namespace

std::string check_queue(const api::PoolQueueSpec& spec) {
  if (auto problem = number("halfLifeSeconds", spec.half_life_seconds, kMinHalfLife, kMaxHalfLife);
      !problem.empty())
    return problem;
  if (auto problem = check_tenants(spec); !problem.empty()) return problem;
  if (spec.others) {
    if (auto problem = check_others(*spec.others); !problem.empty()) return problem;
  }
  if (!spec.order.empty() && spec.order != api::queue_order::kResponseRatio &&
      spec.order != api::queue_order::kOldestFirst)
    return "order must be ResponseRatio or OldestFirst";
  if (auto problem = number("assumedSeconds", spec.assumed_seconds, 60, kMaxHalfLife); !problem.empty())
    return problem;
  if (spec.yield) {
    if (auto problem = check_yield(*spec.yield); !problem.empty()) return problem;
  }
  for (std::size_t i = 0; i < spec.rates.size(); ++i) {
    const auto field = "rates[" + std::to_string(i) + "]";
    if (spec.rates[i].model.empty()) return field + ".model must not be empty";
    if (auto problem = number(field + ".percent", spec.rates[i].percent, 1, kMaxPercent); !problem.empty())
      return problem;
  }
  return {};
}

}  // namespace gpupool::planning
