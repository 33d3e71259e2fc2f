// SPDX-License-Identifier: Apache-2.0
#include "planning/workers/shared_memory.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>

#include "base/quantity.h"

namespace gpupool::planning {
namespace {

using Json = nlohmann::json;
constexpr char kSharedMemoryPath[] = "/dev/shm";

// True if the container says what is at /dev/shm, also by a mount of a folder above it.
bool decides_itself(const Json& container) {
  const auto mounts = container.find("volumeMounts");
  if (mounts == container.end() || !mounts->is_array()) return false;
  return std::any_of(mounts->begin(), mounts->end(), [](const Json& mount) {
    const auto found = mount.find("mountPath");
    auto path = found != mount.end() && found->is_string() ? found->get<std::string>() : std::string();
    while (path.ends_with('/')) path.pop_back();
    return path == kSharedMemoryPath || path == "/dev";
  });
}

// The memory limit as it is written; null if there is none, or if it limits nothing.
Json memory_limit(const Json& container) {
  const auto resources = container.find("resources");
  if (resources == container.end() || !resources->is_object()) return nullptr;
  const auto limits = resources->find("limits");
  if (limits == resources->end() || !limits->is_object() || !limits->contains("memory")) return nullptr;
  const auto& limit = (*limits)["memory"];
  const auto text = limit.is_string() ? limit.get<std::string>() : limit.dump();
  return base::parse_quantity(text).value_or(0) > 0 ? limit : Json();
}

}  // namespace

void add_shared_memory(Json& pod_spec) {
  const auto& worker = pod_spec["containers"][0];
  if (decides_itself(worker) || pod_spec.value("hostIPC", Json()) == true) return;
  Json volume = {{"medium", "Memory"}};
  if (auto limit = memory_limit(worker); !limit.is_null()) volume["sizeLimit"] = std::move(limit);
  for (const char* list : {"containers", "initContainers"}) {
    const auto containers = pod_spec.find(list);
    if (containers == pod_spec.end() || !containers->is_array()) continue;
    for (auto& container : *containers) {
      if (decides_itself(container)) continue;
      auto& mounts = container["volumeMounts"];
      if (!mounts.is_array()) mounts = Json::array();
      mounts.push_back({{"name", kSharedMemoryName}, {"mountPath", kSharedMemoryPath}});
    }
  }
  auto& volumes = pod_spec["volumes"];
  if (!volumes.is_array()) volumes = Json::array();
  volumes.push_back({{"name", kSharedMemoryName}, {"emptyDir", std::move(volume)}});
}

}  // namespace gpupool::planning
