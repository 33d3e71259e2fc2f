// SPDX-License-Identifier: Apache-2.0
#include "planning/workers/mount_trouble.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

namespace gpupool::planning {
namespace {

// In messages of pkg/volume: a ConfigMap, Secret or key, and the path of a local volume.
constexpr std::array<std::string_view, 3> kMissing = {"not found", "non-existent", "does not exist"};

bool says_missing(const std::string& message) {
  return std::ranges::any_of(
      kMissing, [&](std::string_view words) { return message.find(words) != std::string::npos; });
}

}  // namespace

MountTrouble mount_trouble(const std::vector<api::PodEvent>& events) {
  MountTrouble trouble{.asked = true, .message = {}, .missing = false};
  // The times are whole seconds. Of two Events of one second the one that tells more counts.
  const auto order = [](const api::PodEvent& event) {
    return std::pair(event.last_timestamp, says_missing(event.message));
  };
  const auto last = std::ranges::max_element(events, {}, order);
  if (last == events.end()) return trouble;
  trouble.message = last->message;
  trouble.missing = says_missing(last->message);
  return trouble;
}

bool may_wait_for_volumes(const api::Pod& pod) {
  return !pod.spec.node_name.empty() &&
         std::ranges::none_of(pod.status.conditions, [](const api::PodCondition& condition) {
           return condition.type == "PodReadyToStartContainers" && condition.status == "True";
         });
}

}  // namespace gpupool::planning
