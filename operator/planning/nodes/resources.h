// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <compare>
#include <cstdint>
#include <limits>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "api/core/pod_template.h"

namespace gpupool::planning {

// Amounts of what pods request and nodes have, in the units of the scheduler (framework.Resource of
// pkg/scheduler). Sums end at kMost.
struct Resources {
  static constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();

  std::int64_t milli_cpu = 0;
  std::int64_t memory = 0;             // bytes
  std::int64_t ephemeral_storage = 0;  // bytes
  std::int64_t pods = 0;
  std::vector<std::pair<std::string, std::int64_t>> others = {};  // in order of name; amounts above 0
  auto operator<=>(const Resources&) const = default;

  bool empty() const {
    return milli_cpu == 0 && memory == 0 && ephemeral_storage == 0 && pods == 0 && others.empty();
  }
  std::int64_t of(std::string_view resource) const;
  // Both replace the amount. A quantity that is not valid, or negative, counts as 0.
  void read(std::string_view resource, std::string_view quantity);
  void set(std::string_view resource, std::int64_t amount);
  Resources& operator+=(const Resources& more);
  // Raises each amount to at least that of `other`.
  void raise_to(const Resources& other);
  // Calls visit(name, amount) for each amount above 0.
  template <class Visit>
  void each(const Visit& visit) const {
    if (milli_cpu > 0) visit(std::string_view("cpu"), milli_cpu);
    if (memory > 0) visit(std::string_view("memory"), memory);
    if (ephemeral_storage > 0) visit(std::string_view("ephemeral-storage"), ephemeral_storage);
    if (pods > 0) visit(std::string_view("pods"), pods);
    for (const auto& [name, amount] : others) visit(std::string_view(name), amount);
  }
};

// For people: "8 CPUs", "7.5 CPUs", "16Gi of memory", "2 example.com/nic".
std::string amount_text(std::string_view resource, std::int64_t amount);

// What a node has for pods. A resource that every kubelet reports (cpu, memory, ephemeral-storage, pods) and
// this node does not is not known and counts as kMost.
Resources allocatable_of(const std::map<std::string, std::string>& allocatable);

// Returns how many pods that request `each` fit into what `held` leaves of `all`. Each pod counts as one of
// `pods`; `each` has none.
std::int64_t pods_that_fit(const Resources& all, const Resources& held, const Resources& each);

// What one container requests. A limit stands in for a request that is missing, as the API server defaults
// it.
Resources requests_of(const api::TemplateResources& resources);

// What the scheduler counts for a pod: the larger of all containers together and each init container. An init
// container that runs on (restartPolicy Always) counts with the containers and with the init containers after
// it (resource.PodRequests of k8s.io/component-helpers). Without what admission adds: LimitRanges and the
// overhead of a RuntimeClass.
template <class Container>
Resources requests_of(const std::vector<Container>& containers, const std::vector<Container>& init) {
  Resources running;
  for (const auto& container : containers) running += requests_of(container.resources);
  Resources beside;  // init containers that run on
  Resources most;
  for (const auto& container : init) {
    auto now = requests_of(container.resources);
    if (container.restart_policy == "Always") {
      running += now;
      beside += now;
      now = beside;
    } else {
      now += beside;
    }
    most.raise_to(now);
  }
  most.raise_to(running);
  return most;
}

}  // namespace gpupool::planning
