// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/json.h"

// The fields of a user's PodTemplateSpec that gpupool checks. All other fields pass through as text.
namespace gpupool::api {

struct TemplateToleration {
  std::string key;
  std::string op;
  std::string value;
  std::string effect;
  auto operator<=>(const TemplateToleration&) const = default;
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

struct TemplateCapabilities {
  std::vector<std::string> add;
};

struct TemplateSeLinux {
  std::string type;
  std::string user;
  std::string role;
};

// A profile of seccomp or AppArmor.
struct TemplateProfile {
  std::string type;
};

struct TemplateWindows {
  bool host_process = false;
};

struct TemplateSysctl {
  std::string name;
};

// The securityContext of a pod or of a container; each has some of these fields.
struct TemplateSecurityContext {
  bool privileged = false;
  TemplateCapabilities capabilities;
  TemplateSeLinux se_linux_options;
  std::string proc_mount;
  TemplateProfile seccomp_profile;
  TemplateProfile app_armor_profile;
  TemplateWindows windows_options;
  std::vector<TemplateSysctl> sysctls;
};

struct TemplatePort {
  std::int64_t host_port = 0;
};

struct TemplateCall {
  std::string host;
};

// A probe or a lifecycle hook.
struct TemplateHandler {
  TemplateCall http_get;
  TemplateCall tcp_socket;
};

struct TemplateHooks {
  TemplateHandler post_start;
  TemplateHandler pre_stop;
};

struct TemplateContainer {
  std::string name;
  std::vector<std::string> command;
  std::vector<TemplateEnv> env;
  std::vector<TemplateMount> volume_mounts;
  TemplateResources resources;
  std::optional<TemplateHandler> liveness_probe;
  std::optional<TemplateHooks> lifecycle;
  TemplateSecurityContext security_context;
  std::vector<TemplatePort> ports;
  TemplateHandler startup_probe;
  TemplateHandler readiness_probe;
  std::string restart_policy;  // Always: an init container that runs as long as the pod
};

struct TemplateVolume {
  std::string name;
  base::json::RawJson host_path;
};

struct TemplateClaim {
  std::string name;
};

struct TemplateNodeRequirement {
  std::string key;
  std::string op;  // In, NotIn, Exists, DoesNotExist, Gt, Lt
  std::vector<std::string> values;
  auto operator<=>(const TemplateNodeRequirement&) const = default;
};

struct TemplateNodeTerm {
  std::vector<TemplateNodeRequirement> match_expressions;  // of labels
  std::vector<TemplateNodeRequirement> match_fields;       // of metadata.name
  auto operator<=>(const TemplateNodeTerm&) const = default;
};

struct TemplateNodeSelector {
  std::vector<TemplateNodeTerm> node_selector_terms;
};

struct TemplateNodeAffinity {
  TemplateNodeSelector required;
};

struct TemplateAffinity {
  TemplateNodeAffinity node_affinity;
};

struct TemplateSpec {
  std::vector<TemplateContainer> containers;
  std::vector<TemplateContainer> init_containers;
  std::vector<TemplateVolume> volumes;
  std::vector<TemplateToleration> tolerations;
  std::string node_name;
  base::json::RawJson affinity;
  std::map<std::string, std::string> node_selector;
  bool host_network = false;
  bool host_pid = false;
  bool host_ipc = false;
  TemplateSecurityContext security_context;
  std::string priority_class_name;
  std::optional<std::int64_t> priority;
  std::optional<std::int64_t> active_deadline_seconds;
  std::vector<TemplateClaim> resource_claims;
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
struct Schema<api::TemplateCapabilities> {
  static constexpr auto fields = std::array{field<&api::TemplateCapabilities::add>("add")};
};
template <>
struct Schema<api::TemplateSeLinux> {
  using T = api::TemplateSeLinux;
  static constexpr auto fields =
      std::array{field<&T::type>("type"), field<&T::user>("user"), field<&T::role>("role")};
};
template <>
struct Schema<api::TemplateProfile> {
  static constexpr auto fields = std::array{field<&api::TemplateProfile::type>("type")};
};
template <>
struct Schema<api::TemplateWindows> {
  static constexpr auto fields = std::array{field<&api::TemplateWindows::host_process>("hostProcess")};
};
template <>
struct Schema<api::TemplateSysctl> {
  static constexpr auto fields = std::array{field<&api::TemplateSysctl::name>("name")};
};
template <>
struct Schema<api::TemplateSecurityContext> {
  using T = api::TemplateSecurityContext;
  static constexpr auto fields = std::array{
      field<&T::privileged>("privileged"),           field<&T::capabilities>("capabilities"),
      field<&T::se_linux_options>("seLinuxOptions"), field<&T::proc_mount>("procMount"),
      field<&T::seccomp_profile>("seccompProfile"),  field<&T::app_armor_profile>("appArmorProfile"),
      field<&T::windows_options>("windowsOptions"),  field<&T::sysctls>("sysctls")};
};
template <>
struct Schema<api::TemplatePort> {
  static constexpr auto fields = std::array{field<&api::TemplatePort::host_port>("hostPort")};
};
template <>
struct Schema<api::TemplateCall> {
  static constexpr auto fields = std::array{field<&api::TemplateCall::host>("host")};
};
template <>
struct Schema<api::TemplateHandler> {
  using T = api::TemplateHandler;
  static constexpr auto fields =
      std::array{field<&T::http_get>("httpGet"), field<&T::tcp_socket>("tcpSocket")};
};
template <>
struct Schema<api::TemplateHooks> {
  using T = api::TemplateHooks;
  static constexpr auto fields =
      std::array{field<&T::post_start>("postStart"), field<&T::pre_stop>("preStop")};
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
                                            field<&T::lifecycle>("lifecycle"),
                                            field<&T::security_context>("securityContext"),
                                            field<&T::ports>("ports"),
                                            field<&T::startup_probe>("startupProbe"),
                                            field<&T::readiness_probe>("readinessProbe"),
                                            field<&T::restart_policy>("restartPolicy")};
};
template <>
struct Schema<api::TemplateVolume> {
  using T = api::TemplateVolume;
  static constexpr auto fields = std::array{field<&T::name>("name"), field<&T::host_path>("hostPath")};
};
template <>
struct Schema<api::TemplateClaim> {
  static constexpr auto fields = std::array{field<&api::TemplateClaim::name>("name")};
};
template <>
struct Schema<api::TemplateNodeRequirement> {
  using T = api::TemplateNodeRequirement;
  static constexpr auto fields =
      std::array{field<&T::key>("key"), field<&T::op>("operator"), field<&T::values>("values")};
};
template <>
struct Schema<api::TemplateNodeTerm> {
  using T = api::TemplateNodeTerm;
  static constexpr auto fields =
      std::array{field<&T::match_expressions>("matchExpressions"), field<&T::match_fields>("matchFields")};
};
template <>
struct Schema<api::TemplateNodeSelector> {
  using T = api::TemplateNodeSelector;
  static constexpr auto fields = std::array{field<&T::node_selector_terms>("nodeSelectorTerms")};
};
template <>
struct Schema<api::TemplateNodeAffinity> {
  using T = api::TemplateNodeAffinity;
  static constexpr auto fields =
      std::array{field<&T::required>("requiredDuringSchedulingIgnoredDuringExecution")};
};
template <>
struct Schema<api::TemplateAffinity> {
  using T = api::TemplateAffinity;
  static constexpr auto fields = std::array{field<&T::node_affinity>("nodeAffinity")};
};
template <>
struct Schema<api::TemplateSpec> {
  using T = api::TemplateSpec;
  static constexpr auto fields = std::array{field<&T::containers>("containers"),
                                            field<&T::init_containers>("initContainers"),
                                            field<&T::volumes>("volumes"),
                                            field<&T::tolerations>("tolerations"),
                                            field<&T::node_name>("nodeName"),
                                            field<&T::affinity>("affinity"),
                                            field<&T::node_selector>("nodeSelector"),
                                            field<&T::host_network>("hostNetwork"),
                                            field<&T::host_pid>("hostPID"),
                                            field<&T::host_ipc>("hostIPC"),
                                            field<&T::security_context>("securityContext"),
                                            field<&T::priority_class_name>("priorityClassName"),
                                            field<&T::priority>("priority"),
                                            field<&T::active_deadline_seconds>("activeDeadlineSeconds"),
                                            field<&T::resource_claims>("resourceClaims")};
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
