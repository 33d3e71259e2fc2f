// SPDX-License-Identifier: Apache-2.0
#include <nlohmann/json.hpp>

#include "probes/merged_toml.h"
#include "probes/runtime_config.h"

namespace gpupool::probes {
namespace {

using Json = nlohmann::json;

constexpr char kCrioPath[] = "/etc/crio/crio.conf";
constexpr char kDropIns[] = "/etc/crio/crio.conf.d";

base::Result<Json> load_crio(const HostRoot& root) {
  Json all = Json::object();
  auto files = matching_files(root, kDropIns, "*");
  files.insert(files.begin(), kCrioPath);
  for (const std::string& file : files) {
    if (auto done = merge_toml(root, file, all); !done) return tl::unexpected<base::Error>(done.error());
  }
  return all;
}

std::string text_at(const Json& parent, const char* key, const char* otherwise) {
  const auto at = parent.find(key);
  return at != parent.end() && at->is_string() ? at->get<std::string>() : otherwise;
}

}  // namespace

checks::RuntimeConfig crio_config(const HostRoot& root) {
  checks::RuntimeConfig config;
  config.path = kCrioPath;
  const auto all = load_crio(root);
  if (!all) {
    config.error = all.error().message;
    return config;
  }
  const Json runtime = all->value(Json::json_pointer("/crio/runtime"), Json::object());
  if (!runtime.is_object()) return config;
  config.cdi = true;
  config.default_handler = text_at(runtime, "default_runtime", "runc");
  const bool systemd = text_at(runtime, "cgroup_manager", "systemd") == "systemd";
  const Json runtimes = runtime.value("runtimes", Json::object());
  for (const auto& [name, handler] : runtimes.items()) {
    const std::string binary = handler.is_object() ? text_at(handler, "runtime_path", "") : "";
    config.handlers.push_back({.name = name,
                               .binary = binary,
                               .binary_missing = !binary.empty() && binary_missing(root, binary),
                               .systemd_cgroup = systemd});
  }
  if (!runtimes.contains(config.default_handler)) {
    config.handlers.push_back({.name = config.default_handler, .binary = {}, .systemd_cgroup = systemd});
  }
  return config;
}

}  // namespace gpupool::probes
