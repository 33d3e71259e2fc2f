// SPDX-License-Identifier: Apache-2.0
#include "jobs/worker_pods.h"

#include <algorithm>
#include <charconv>
#include <string>

namespace gpupool::jobs {

std::int64_t rank_of_worker(const api::Pod& pod) {
  const auto& owners = pod.metadata.owner_references;
  const bool of_set = std::any_of(owners.begin(), owners.end(), [](const auto& owner) {
    return owner.controller && owner.kind == "StatefulSet";
  });
  const std::string& name = pod.metadata.name;
  const auto dash = name.rfind('-');
  std::int64_t rank = 0;
  if (of_set && dash != std::string::npos)
    std::from_chars(name.data() + dash + 1, name.data() + name.size(), rank);
  return rank;
}

}  // namespace gpupool::jobs
