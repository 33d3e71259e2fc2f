// SPDX-License-Identifier: Apache-2.0
#include <nlohmann/json.hpp>

#include "probes/merged_toml.h"
#include "probes/runtime_config.h"

namespace gpupool::probes {
namespace {

using Json = nlohmann::json;

constexpr char kContainerdPath[] = "/etc/containerd/config.toml";
constexpr char kDirectory[] = "/etc/containerd";

// An empty object where there is none, so that a chain of them needs no checks.
const Json& object_at(const Json& parent, const std::string& key) {
  static const Json kNone = Json::object();
  const auto at = parent.find(key);
  return at != parent.end() && at->is_object() ? *at : kNone;
}

std::string text_at(const Json& parent, const std::string& key) {
  const auto at = parent.find(key);
  return at != parent.end() && at->is_string() ? at->get<std::string>() : std::string();
}

bool flag_at(const Json& parent, const std::string& key, bool otherwise) {
  const auto at = parent.find(key);
  return at != parent.end() && at->is_boolean() ? at->get<bool>() : otherwise;
}

base::Result<Json> load_containerd(const HostRoot& root) {
  Json all = Json::object();
  if (auto done = merge_toml(root, kContainerdPath, all); !done)
    return tl::unexpected<base::Error>(done.error());
  const Json imports = all.value("imports", Json::array());
  for (const Json& pattern : imports) {
    if (!pattern.is_string()) continue;
    for (const std::string& file : matching_files(root, kDirectory, pattern.get<std::string>())) {
      if (auto done = merge_toml(root, file, all); !done) return tl::unexpected<base::Error>(done.error());
    }
  }
  return all;
}

// The CRI plugin's table, which has another name in each version of the file.
const Json& cri_of(const Json& all) {
  const Json& plugins = object_at(all, "plugins");
  for (const char* name : {"io.containerd.cri.v1.runtime", "io.containerd.grpc.v1.cri", "cri"}) {
    const Json& cri = object_at(plugins, name);
    if (!cri.empty()) return cri;
  }
  return object_at(plugins, "");
}

bool disables_cri(const Json& all) {
  for (const Json& name : all.value("disabled_plugins", Json::array())) {
    if (name == "cri" || name == "io.containerd.grpc.v1.cri" || name == "io.containerd.cri.v1.runtime")
      return true;
  }
  return false;
}

}  // namespace

checks::RuntimeConfig containerd_config(const HostRoot& root) {
  checks::RuntimeConfig config;
  config.path = kContainerdPath;
  const auto all = load_containerd(root);
  if (!all) {
    config.error = all.error().message;
    return config;
  }
  const Json& cri = cri_of(*all);
  const Json& containerd = object_at(cri, "containerd");
  config.cri_disabled = disables_cri(*all);
  config.default_handler = text_at(containerd, "default_runtime_name");
  if (config.default_handler.empty()) config.default_handler = "runc";
  // containerd 2, which writes version 3, looks at CDI specs unless it is told not to; 1.7 only if it is told
  // to.
  config.cdi = flag_at(cri, "enable_cdi", all->value("version", Json(1)) == 3);
  for (const auto& [name, handler] : object_at(containerd, "runtimes").items()) {
    const Json& options = object_at(handler, "options");
    const std::string binary = text_at(options, "BinaryName");
    config.handlers.push_back({.name = name,
                               .binary = binary,
                               .binary_missing = !binary.empty() && binary_missing(root, binary),
                               .systemd_cgroup = flag_at(options, "SystemdCgroup", false)});
  }
  if (!object_at(containerd, "runtimes").contains("runc")) {
    config.handlers.push_back({.name = "runc", .binary = {}});  // built in
  }
  return config;
}

bool binary_missing(const HostRoot& root, const std::string& binary) {
  if (binary.find('/') != std::string::npos) return !root.exists(binary);
  for (const char* folder :
       {"/usr/bin/", "/usr/local/bin/", "/usr/sbin/", "/usr/local/sbin/", "/bin/", "/sbin/"}) {
    if (root.exists(folder + binary)) return false;
  }
  return true;
}

}  // namespace gpupool::probes
