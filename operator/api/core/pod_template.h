#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/json.h"

// What gpupool checks in a user's PodTemplateSpec; everything else passes through as text.
namespace gpupool::api {

struct TemplateToleration {
  std::string key;
  std::string op;
  std::string value;
  std::string effect;
};

struct TemplateEnv {
  std::string name;
};

struct TemplateMount {
  std::string name;
  std::string mount_path;
};

struct TemplateResources {
  std::map<std::string, base::json::RawJson> requests;
  std::map<std::string, base::json::RawJson> limits;
};

struct TemplateContainer {
  std::string name;
  std::vector<std::string> command;
  std::vector<TemplateEnv> env;
  std::vector<TemplateMount> volume_mounts;
  TemplateResources resources;
  base::json::RawJson liveness_probe;
  base::json::RawJson lifecycle;
};

struct TemplateVolume {
  std::string name;
};

struct TemplateSpec {
  std::vector<TemplateContainer> containers;
  std::vector<TemplateContainer> init_containers;
  std::vector<TemplateVolume> volumes;
  std::vector<TemplateToleration> tolerations;
  std::string node_name;
  base::json::RawJson affinity;
  std::map<std::string, std::string> node_selector;
};

struct TemplateMeta {
  std::map<std::string, std::string> labels;
  std::map<std::string, std::string> annotations;
};

struct PodTemplate {
  TemplateMeta metadata;
  TemplateSpec spec;
};

}  // namespace gpupool::api

namespace gpupool::base::json {

template <>
struct Schema<api::TemplateToleration> {
  using T = api::TemplateToleration;
  static constexpr auto fields = std::array{field<&T::key>("key"), field<&T::op>("operator"),
                                            field<&T::value>("value"), field<&T::effect>("effect")};
};
template <>
struct Schema<api::TemplateEnv> {
  static constexpr auto fields = std::array{field<&api::TemplateEnv::name>("name")};
};
template <>
struct Schema<api::TemplateMount> {
  using T = api::TemplateMount;
  static constexpr auto fields = std::array{field<&T::name>("name"), field<&T::mount_path>("mountPath")};
};
template <>
struct Schema<api::TemplateResources> {
  using T = api::TemplateResources;
  static constexpr auto fields = std::array{field<&T::requests>("requests"), field<&T::limits>("limits")};
};
template <>
struct Schema<api::TemplateContainer> {
  using T = api::TemplateContainer;
  static constexpr auto fields = std::array{field<&T::name>("name"),
                                            field<&T::command>("command"),
                                            field<&T::env>("env"),
                                            field<&T::volume_mounts>("volumeMounts"),
                                            field<&T::resources>("resources"),
                                            field<&T::liveness_probe>("livenessProbe"),
                                            field<&T::lifecycle>("lifecycle")};
};
template <>
struct Schema<api::TemplateVolume> {
  static constexpr auto fields = std::array{field<&api::TemplateVolume::name>("name")};
};
template <>
struct Schema<api::TemplateSpec> {
  using T = api::TemplateSpec;
  static constexpr auto fields =
      std::array{field<&T::containers>("containers"),     field<&T::init_containers>("initContainers"),
                 field<&T::volumes>("volumes"),           field<&T::tolerations>("tolerations"),
                 field<&T::node_name>("nodeName"),        field<&T::affinity>("affinity"),
                 field<&T::node_selector>("nodeSelector")};
};
template <>
struct Schema<api::TemplateMeta> {
  using T = api::TemplateMeta;
  static constexpr auto fields =
      std::array{field<&T::labels>("labels"), field<&T::annotations>("annotations")};
};
template <>
struct Schema<api::PodTemplate> {
  using T = api::PodTemplate;
  static constexpr auto fields = std::array{field<&T::metadata>("metadata"), field<&T::spec>("spec")};
};

}  // namespace gpupool::base::json
