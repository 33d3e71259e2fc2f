// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "api/v1alpha1/pool_queue.h"
#include "planning/tenants/gpu_amount.h"

namespace gpupool::planning {

// A tenant of a pool. Amounts in milli-GPUs.
struct Tenant {
  std::string name;
  std::int64_t weight = 1;
  MilliGpus guaranteed = 0;
  std::optional<MilliGpus> limit;
  std::optional<std::int64_t> max_priority;
  bool refused = false;  // its jobs never start
  bool operator==(const Tenant&) const = default;
};

// Which tenant a namespace belongs to: the first of spec.queue.tenants that names it, else as
// spec.queue.others says. Pure; not thread-safe.
class TenantMap {
 public:
  explicit TenantMap(const api::PoolQueueSpec& spec);

  // A namespace that is a tenant of its own has its name, or "namespace/NAME" if spec.queue.tenants uses that
  // name for another tenant. All others together are called "others".
  Tenant of(const std::string& ns) const;
  // Returns the tenant with this name as of() would; also of namespaces that have no job.
  Tenant named(const std::string& name) const;
  // The tenants of spec.queue.tenants, in its order.
  const std::vector<Tenant>& listed() const { return listed_; }

 private:
  std::optional<std::size_t> index_of(const std::string& ns) const;
  Tenant other(std::string name) const;

  std::vector<Tenant> listed_;
  std::map<std::string, std::size_t> exact_;                     // namespace -> index in listed_
  std::vector<std::pair<std::string, std::size_t>> beginnings_;  // of namespaces, in the order of the spec
  std::map<std::string, std::size_t> by_name_;
  api::QueueOthers others_;
};

}  // namespace gpupool::planning
