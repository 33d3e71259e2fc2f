// SPDX-License-Identifier: Apache-2.0
#include "planning/workers/pod_security.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <string_view>

namespace gpupool::planning {
namespace {

constexpr std::array<std::string_view, 13> kCapabilities = {
    "AUDIT_WRITE",      "CHOWN",   "DAC_OVERRIDE", "FOWNER",  "FSETID", "KILL",      "MKNOD",
    "NET_BIND_SERVICE", "SETFCAP", "SETGID",       "SETPCAP", "SETUID", "SYS_CHROOT"};
constexpr std::array<std::string_view, 10> kSysctls = {
    "kernel.shm_rmid_forced",           "net.ipv4.ip_local_port_range",
    "net.ipv4.ip_local_reserved_ports", "net.ipv4.ip_unprivileged_port_start",
    "net.ipv4.ping_group_range",        "net.ipv4.tcp_fin_timeout",
    "net.ipv4.tcp_keepalive_intvl",     "net.ipv4.tcp_keepalive_probes",
    "net.ipv4.tcp_keepalive_time",      "net.ipv4.tcp_syncookies"};
constexpr std::array<std::string_view, 5> kSeLinuxTypes = {"", "container_t", "container_init_t",
                                                           "container_kvm_t", "container_engine_t"};
constexpr std::string_view kSwitch = ": not allowed, unless spec.podSecurity of the pool is Privileged";

template <std::size_t N>
bool allows(const std::array<std::string_view, N>& allowed, std::string_view value) {
  return std::find(allowed.begin(), allowed.end(), value) != allowed.end();
}

std::string check_context(const api::TemplateSecurityContext& context) {
  if (context.privileged) return "privileged";
  for (const auto& name : context.capabilities.add) {
    if (!allows(kCapabilities, name)) return "capabilities.add: " + name;
  }
  const auto& se_linux = context.se_linux_options;
  if (!allows(kSeLinuxTypes, se_linux.type) || !se_linux.user.empty() || !se_linux.role.empty())
    return "seLinuxOptions";
  if (!context.proc_mount.empty() && context.proc_mount != "Default") return "procMount";
  if (context.seccomp_profile.type == "Unconfined") return "seccompProfile";
  if (context.app_armor_profile.type == "Unconfined") return "appArmorProfile";
  if (context.windows_options.host_process) return "windowsOptions.hostProcess";
  for (const auto& sysctl : context.sysctls) {
    if (!allows(kSysctls, sysctl.name)) return "sysctls: " + sysctl.name;
  }
  return {};
}

// The kubelet makes these calls itself, from the network of the node.
bool names_host(const api::TemplateHandler& handler) {
  return !handler.http_get.host.empty() || !handler.tcp_socket.host.empty();
}

// Variables by which NVIDIA's runtime chooses GPUs and a limiter gets its limits. The device plugin sets
// them; a variable of the container would have precedence.
bool chooses_gpus(std::string_view env) {
  return env == "NVIDIA_VISIBLE_DEVICES" || env.starts_with("NVIDIA_MIG_") || env.starts_with("CUDA_DEVICE_");
}

// Where the device plugin mounts the limiter and its limits: a volume of the container would lie over them.
bool hides_limits(const std::string& mount_path) {
  constexpr std::array<std::string_view, 4> kPaths = {"/etc/ld.so.preload/", "/etc/gpupool/", "/run/gpupool/",
                                                      "/usr/local/lib/gpupool/"};
  const auto path = (std::filesystem::path("/" + mount_path) / "").lexically_normal().string();
  return std::any_of(kPaths.begin(), kPaths.end(),
                     [&](std::string_view taken) { return path.starts_with(taken); });
}

std::string check_container(const api::TemplateContainer& container) {
  if (const auto field = check_context(container.security_context); !field.empty())
    return "securityContext." + field;
  for (const auto& port : container.ports) {
    if (port.host_port != 0) return "ports: hostPort";
  }
  const auto& live = container.liveness_probe;
  const auto& hooks = container.lifecycle;
  if (names_host(container.startup_probe) || names_host(container.readiness_probe) ||
      (live && names_host(*live)))
    return "probes: host";
  if (hooks && (names_host(hooks->post_start) || names_host(hooks->pre_stop))) return "lifecycle: host";
  for (const auto& env : container.env) {
    if (chooses_gpus(env.name)) return "env: " + env.name;
  }
  for (const auto& mount : container.volume_mounts) {
    if (hides_limits(mount.mount_path)) return "volumeMounts: " + mount.mount_path;
  }
  return {};
}

std::string check_annotations(const api::TemplateMeta& metadata) {
  for (const auto& [key, value] : metadata.annotations) {
    const bool profile = key.starts_with("container.apparmor.security.beta.kubernetes.io/") ||
                         key.starts_with("container.seccomp.security.alpha.kubernetes.io/") ||
                         key == "seccomp.security.alpha.kubernetes.io/pod";
    if ((profile && value == "unconfined") || key.starts_with("cdi.k8s.io/"))
      return "metadata.annotations: " + key;
  }
  return {};
}

std::string check_pod(const api::TemplateSpec& spec) {
  if (spec.host_network) return "hostNetwork";
  if (spec.host_pid) return "hostPID";
  if (spec.host_ipc) return "hostIPC";
  if (const auto field = check_context(spec.security_context); !field.empty())
    return "securityContext." + field;
  for (const auto& volume : spec.volumes) {
    if (!volume.host_path.empty()) return "volumes: hostPath of " + volume.name;
  }
  if (!spec.priority_class_name.empty() || spec.priority)
    return "priorityClassName: it would preempt other pods of the node; use spec.priority of the GpuJob";
  if (!spec.resource_claims.empty()) return "resourceClaims";
  return {};
}

template <class Check>
std::string each_container(const api::TemplateSpec& spec, Check check) {
  for (const auto* list : {&spec.containers, &spec.init_containers}) {
    for (std::size_t i = 0; i < list->size(); ++i) {
      const bool worker = list == &spec.containers && i == 0;
      if (const std::string field = check((*list)[i], worker); !field.empty()) {
        return std::string(list == &spec.containers ? "containers[" : "initContainers[") + std::to_string(i) +
               "]." + field;
      }
    }
  }
  return {};
}

bool is_gpu(const std::string& resource, const std::string& worker_resource) {
  return resource == worker_resource || resource.starts_with("nvidia.com/") ||
         resource.starts_with("gpupool.dev/");
}

}  // namespace

std::string beyond_baseline(const api::PodTemplate& pod) {
  auto field = check_annotations(pod.metadata);
  if (!field.empty()) return field + std::string(kSwitch);
  field = check_pod(pod.spec);
  if (field.empty()) {
    field = each_container(pod.spec, [](const auto& container, bool) { return check_container(container); });
  }
  return field.empty() ? std::string() : "spec." + field + std::string(kSwitch);
}

std::string beyond_lease(const api::PodTemplate& pod, const std::string& worker_resource) {
  const auto field = each_container(pod.spec, [&](const auto& container, bool worker) -> std::string {
    for (const auto* amounts : {&container.resources.limits, &container.resources.requests}) {
      for (const auto& [name, amount] : *amounts) {
        const bool given = worker && name == worker_resource;  // the number is checked in job_validation.cc
        if (!given && is_gpu(name, worker_resource)) return "resources: " + name;
      }
    }
    return {};
  });
  return field.empty() ? std::string() : "spec." + field + ": only the worker has GPUs, those of spec.gpus";
}

}  // namespace gpupool::planning
