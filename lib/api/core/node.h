// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "api/meta/object_meta.h"

namespace gpupool::api {

struct Taint {
  std::string key;
  std::string value;
  std::string effect;
  bool operator==(const Taint&) const = default;
};

struct NodeCondition {
  std::string type;
  std::string status;
  std::optional<base::WallTime> last_transition_time;
};

struct NodeSpec {
  bool unschedulable = false;  // cordoned
  std::vector<Taint> taints;   // in the server's order, because patches address them by index
};

struct NodeInfo {
  base::Word kubelet_version;  // v1.36.2
};

struct NodeStatus {
  std::map<std::string, std::string> allocatable;  // quantities
  std::vector<NodeCondition> conditions;
  NodeInfo node_info;
};

struct Node {
  static constexpr ResourceType kType{"", "v1", "nodes", "Node", false};
  ObjectMeta metadata;
  NodeSpec spec;
  NodeStatus status;

  const NodeCondition* ready_condition() const {
    for (const auto& condition : status.conditions) {
      if (condition.type == "Ready") return &condition;
    }
    return nullptr;
  }
  bool ready() const {
    const auto* condition = ready_condition();
    return condition != nullptr && condition->status == "True";
  }
};

}  // namespace gpupool::api

namespace gpupool::base::json {

template <>
struct Schema<api::Taint> {
  using T = api::Taint;
  static constexpr auto fields =
      std::array{field<&T::key>("key"), field<&T::value>("value"), field<&T::effect>("effect")};
};
template <>
struct Schema<api::NodeCondition> {
  using T = api::NodeCondition;
  static constexpr auto fields = std::array{field<&T::type>("type"), field<&T::status>("status"),
                                            field<&T::last_transition_time>("lastTransitionTime")};
};
template <>
struct Schema<api::NodeSpec> {
  using T = api::NodeSpec;
  static constexpr auto fields =
      std::array{field<&T::unschedulable>("unschedulable"), field<&T::taints>("taints")};
};
template <>
struct Schema<api::NodeInfo> {
  static constexpr auto fields = std::array{field<&api::NodeInfo::kubelet_version>("kubeletVersion")};
};
template <>
struct Schema<api::NodeStatus> {
  using T = api::NodeStatus;
  static constexpr auto fields =
      std::array{field<&T::allocatable>("allocatable"), field<&T::conditions>("conditions"),
                 field<&T::node_info>("nodeInfo")};
};
template <>
struct Schema<api::Node> {
  using T = api::Node;
  static constexpr auto fields =
      std::array{field<&T::metadata>("metadata"), field<&T::spec>("spec"), field<&T::status>("status")};
};

}  // namespace gpupool::base::json
