#include "report/report_body.h"

#include <nlohmann/json.hpp>
#include <string_view>

#include "base/rfc3339.h"

namespace gpupool::report {
namespace {

using Json = nlohmann::json;

// Null removes what an older status had.
Json text_or_null(const std::string& text) { return text.empty() ? Json(nullptr) : Json(text); }

// Inside a list 1.20 reads an empty string as null and refuses it.
void set_text(Json& object, const char* key, std::string_view text) {
  if (!text.empty()) object[key] = text;
}

Json to_json(const std::vector<api::Condition>& conditions) {
  auto list = Json::array();
  for (const auto& condition : conditions) {
    Json object = {{"type", condition.type}, {"status", condition.status}};
    if (condition.last_transition_time)
      object["lastTransitionTime"] = base::to_rfc3339(*condition.last_transition_time);
    set_text(object, "reason", condition.reason);
    set_text(object, "message", condition.message);
    list.push_back(std::move(object));
  }
  return list;
}

Json to_json(const api::GpuNodeGpu& gpu) {
  auto pods = Json::array();
  for (const auto& pod : gpu.pods) {
    pods.push_back({{"namespace", pod.ns}, {"name", pod.name}, {"slices", pod.slices}});
  }
  Json object = {{"uuid", gpu.uuid},
                 {"index", gpu.index},
                 {"memoryMiB", gpu.memory_mib},
                 {"numaNode", gpu.numa_node},
                 {"mig", gpu.mig},
                 {"health", gpu.health},
                 {"slices",
                  {{"total", gpu.slices.total},
                   {"free", gpu.slices.free},
                   {"memoryMiB", gpu.slices.memory_mib},
                   {"cores", gpu.slices.cores}}},
                 {"pods", std::move(pods)}};
  set_text(object, "model", gpu.model);
  set_text(object, "computeCapability", gpu.compute_capability);
  set_text(object, "reason", gpu.reason);
  set_text(object, "resourceName", gpu.resource_name);
  return object;
}

Json owners(const std::string& node, const std::string& node_uid) {
  return Json::array({{{"apiVersion", "v1"}, {"kind", "Node"}, {"name", node}, {"uid", node_uid}}});
}

// A driver's words may hold stray bytes; they must not throw.
std::string text_of(const Json& json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace); }

}  // namespace

std::string new_node_body(const std::string& node, const std::string& node_uid) {
  return text_of({{"apiVersion", "gpupool.dev/v1alpha1"},
                  {"kind", "GpuNode"},
                  {"metadata", {{"name", node}, {"ownerReferences", owners(node, node_uid)}}}});
}

std::string owner_patch(const std::string& resource_version, const std::string& node,
                        const std::string& node_uid) {
  return text_of(
      {{"metadata", {{"resourceVersion", resource_version}, {"ownerReferences", owners(node, node_uid)}}}});
}

std::string status_body(const std::string& resource_version, const api::GpuNodeStatus& status) {
  auto gpus = Json::array();
  for (const auto& gpu : status.gpus) gpus.push_back(to_json(gpu));
  const Json body = {
      {"pluginVersion", text_or_null(status.plugin_version)},
      {"driverVersion", text_or_null(status.driver_version)},
      {"cudaVersion", text_or_null(status.cuda_version)},
      {"message", text_or_null(status.message)},
      {"lastReport", status.last_report ? Json(base::to_rfc3339(*status.last_report)) : Json(nullptr)},
      {"conditions", to_json(status.conditions)},
      {"gpuCounts", {{"total", status.gpu_counts.total}, {"healthy", status.gpu_counts.healthy}}},
      {"sliceCounts", {{"total", status.slice_counts.total}, {"free", status.slice_counts.free}}},
      {"gpus", std::move(gpus)}};
  return text_of({{"metadata", {{"resourceVersion", resource_version}}}, {"status", body}});
}

}  // namespace gpupool::report
