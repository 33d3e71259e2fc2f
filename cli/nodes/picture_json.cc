// SPDX-License-Identifier: Apache-2.0
#include <nlohmann/json.hpp>

#include "base/rfc3339.h"
#include "nodes/picture.h"
#include "objects/output.h"

namespace gpupool::nodes {
namespace {

using Json = nlohmann::ordered_json;

void add(Json& object, const char* name, const std::optional<std::int64_t>& value) {
  if (value) object[name] = *value;
}

Json json_of_gpu(const SeenGpu& gpu) {
  Json pods = Json::array();
  for (const auto& pod : gpu.pods)
    pods.push_back({{"namespace", pod.ns}, {"name", pod.name}, {"slices", pod.slices}});
  Json json{
      {"index", gpu.index},          {"model", gpu.model},
      {"memoryMiB", gpu.memory_mib}, {"health", gpu.health},
      {"reason", gpu.reason},        {"slices", {{"total", gpu.slices.total}, {"free", gpu.slices.free}}},
      {"pods", std::move(pods)}};
  add(json, "utilizationPercent", gpu.usage.utilization_percent);
  add(json, "memoryUsedMiB", gpu.usage.memory_used_mib);
  add(json, "temperatureCelsius", gpu.usage.temperature_celsius);
  add(json, "powerMilliwatts", gpu.usage.power_milliwatts);
  return json;
}

}  // namespace

std::string picture_json(const std::vector<SeenNode>& nodes) {
  Json items = Json::array();
  for (const SeenNode& node : nodes) {
    Json gpus = Json::array();
    for (const SeenGpu& gpu : node.status.gpus) gpus.push_back(json_of_gpu(gpu));
    Json item{{"node", node.metadata.name}, {"message", node.status.message}, {"gpus", std::move(gpus)}};
    if (node.status.last_report) item["lastReport"] = base::to_rfc3339(*node.status.last_report);
    items.push_back(std::move(item));
  }
  return Json{{"apiVersion", objects::kOutputVersion}, {"kind", "NodeList"}, {"items", std::move(items)}}
      .dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace gpupool::nodes
