// SPDX-License-Identifier: Apache-2.0
#include "probes/cdi_specs.h"

#include <yaml-cpp/yaml.h>

namespace gpupool::probes {
namespace {

constexpr char kGpu[] = "nvidia.com/gpu";

// Files that cannot be read are skipped, as container runtimes do.
bool describes_gpus(const std::string& text) {
  try {
    const YAML::Node spec = YAML::Load(text);
    return spec.IsMap() && spec["kind"].IsDefined() && spec["kind"].as<std::string>("") == kGpu &&
           spec["devices"].IsSequence() && spec["devices"].size() > 0;
  } catch (const YAML::Exception&) {
    return false;
  }
}

}  // namespace

std::vector<std::string> cdi_specs(const HostRoot& root) {
  std::vector<std::string> specs;
  for (const char* folder : {"/etc/cdi", "/var/run/cdi"}) {
    for (const std::string& name : root.names(folder)) {
      if (!name.ends_with(".yaml") && !name.ends_with(".json")) continue;  // JSON is YAML
      const std::string path = std::string(folder) + "/" + name;
      if (describes_gpus(root.read(path).value_or(""))) specs.push_back(path);
    }
  }
  return specs;
}

}  // namespace gpupool::probes
