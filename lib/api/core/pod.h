// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "api/meta/object_meta.h"

namespace gpupool::api {

struct ContainerTerminated {
  std::int64_t exit_code = 0;
  std::int64_t signal = 0;
  std::string reason;
  std::string message;  // in a worker's container: the result of the launcher
  std::optional<base::WallTime> finished_at = {};
};

struct ContainerWaiting {
  std::string reason;
  std::string message;
};

struct ContainerRunning {
  std::optional<base::WallTime> started_at;
};

struct ContainerState {
  base::Boxed<ContainerWaiting> waiting;
  std::optional<ContainerRunning> running;
  base::Boxed<ContainerTerminated> terminated;
};

struct ContainerStatus {
  std::string name;
  ContainerState state;
  ContainerState last_state;
  std::int64_t restart_count = 0;
};

struct PodCondition {
  base::Word type;
  base::Word status;
  base::Word reason;
  std::string message;
};

struct PodSpec {
  std::string node_name;
};

struct PodStatus {
  std::string phase;
  std::string reason;
  std::string message;
  std::vector<PodCondition> conditions;
  std::vector<ContainerStatus> init_container_statuses;
  std::vector<ContainerStatus> container_statuses;
};

struct Pod {
  static constexpr ResourceType kType{"", "v1", "pods", "Pod", true};
  ObjectMeta metadata;
  PodSpec spec;
  PodStatus status;
};

}  // namespace gpupool::api

namespace gpupool::base::json {

template <>
struct Schema<api::ContainerTerminated> {
  using T = api::ContainerTerminated;
  static constexpr auto fields =
      std::array{field<&T::exit_code>("exitCode"), field<&T::signal>("signal"), field<&T::reason>("reason"),
                 field<&T::message>("message"), field<&T::finished_at>("finishedAt")};
};
template <>
struct Schema<api::ContainerWaiting> {
  using T = api::ContainerWaiting;
  static constexpr auto fields = std::array{field<&T::reason>("reason"), field<&T::message>("message")};
};
template <>
struct Schema<api::ContainerRunning> {
  using T = api::ContainerRunning;
  static constexpr auto fields = std::array{field<&T::started_at>("startedAt")};
};
template <>
struct Schema<api::ContainerState> {
  using T = api::ContainerState;
  static constexpr auto fields = std::array{field<&T::waiting>("waiting"), field<&T::running>("running"),
                                            field<&T::terminated>("terminated")};
};
template <>
struct Schema<api::ContainerStatus> {
  using T = api::ContainerStatus;
  static constexpr auto fields =
      std::array{field<&T::name>("name"), field<&T::state>("state"), field<&T::last_state>("lastState"),
                 field<&T::restart_count>("restartCount")};
};
template <>
struct Schema<api::PodCondition> {
  using T = api::PodCondition;
  static constexpr std::size_t kUsualCount = 4;
  static constexpr auto fields = std::array{field<&T::type>("type"), field<&T::status>("status"),
                                            field<&T::reason>("reason"), field<&T::message>("message")};
};
template <>
struct Schema<api::PodSpec> {
  using T = api::PodSpec;
  static constexpr auto fields = std::array{field<&T::node_name>("nodeName")};
};
template <>
struct Schema<api::PodStatus> {
  using T = api::PodStatus;
  static constexpr auto fields = std::array{field<&T::phase>("phase"),
                                            field<&T::reason>("reason"),
                                            field<&T::message>("message"),
                                            field<&T::conditions>("conditions"),
                                            field<&T::init_container_statuses>("initContainerStatuses"),
                                            field<&T::container_statuses>("containerStatuses")};
};
template <>
struct Schema<api::Pod> {
  using T = api::Pod;
  static constexpr auto fields =
      std::array{field<&T::metadata>("metadata"), field<&T::spec>("spec"), field<&T::status>("status")};
};

}  // namespace gpupool::base::json
