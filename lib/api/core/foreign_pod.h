// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "api/core/pod_template.h"
#include "api/meta/object_meta.h"

// What gpupool reads of pods that are not its own: what they hold on their node. A view of the kind Pod.
namespace gpupool::api {

struct ForeignPodAnnotations {
  std::string mirror;  // a static pod of the kubelet
};

struct ForeignPodOwner {
  std::string kind;
};

struct ForeignPodMeta {
  std::string name;
  std::string ns;
  std::string uid;
  std::string resource_version;
  std::optional<base::WallTime> creation_timestamp;
  ForeignPodAnnotations annotations;
  std::vector<ForeignPodOwner> owner_references;
};

struct ForeignPodContainer {
  TemplateResources resources;
  std::string restart_policy;  // Always: an init container that runs as long as the pod
};

struct ForeignPodSpec {
  std::string node_name;
  std::vector<ForeignPodContainer> containers;
  std::vector<ForeignPodContainer> init_containers;
  std::map<std::string, base::json::RawJson> overhead;  // of its RuntimeClass
};

struct ForeignPod {
  static constexpr ResourceType kType{"", "v1", "pods", "Pod", true};
  ForeignPodMeta metadata;
  ForeignPodSpec spec;
};

}  // namespace gpupool::api

namespace gpupool::base::json {

template <>
struct Schema<api::ForeignPodAnnotations> {
  static constexpr auto fields =
      std::array{field<&api::ForeignPodAnnotations::mirror>("kubernetes.io/config.mirror")};
};
template <>
struct Schema<api::ForeignPodOwner> {
  static constexpr auto fields = std::array{field<&api::ForeignPodOwner::kind>("kind")};
};
template <>
struct Schema<api::ForeignPodMeta> {
  using T = api::ForeignPodMeta;
  static constexpr auto fields = std::array{field<&T::name>("name"),
                                            field<&T::ns>("namespace"),
                                            field<&T::uid>("uid"),
                                            field<&T::resource_version>("resourceVersion"),
                                            field<&T::creation_timestamp>("creationTimestamp"),
                                            field<&T::annotations>("annotations"),
                                            field<&T::owner_references>("ownerReferences")};
};
template <>
struct Schema<api::ForeignPodContainer> {
  using T = api::ForeignPodContainer;
  static constexpr auto fields =
      std::array{field<&T::resources>("resources"), field<&T::restart_policy>("restartPolicy")};
};
template <>
struct Schema<api::ForeignPodSpec> {
  using T = api::ForeignPodSpec;
  static constexpr auto fields =
      std::array{field<&T::node_name>("nodeName"), field<&T::containers>("containers"),
                 field<&T::init_containers>("initContainers"), field<&T::overhead>("overhead")};
};
template <>
struct Schema<api::ForeignPod> {
  using T = api::ForeignPod;
  static constexpr auto fields = std::array{field<&T::metadata>("metadata"), field<&T::spec>("spec")};
};

}  // namespace gpupool::base::json
