// SPDX-License-Identifier: Apache-2.0
#include "report/report_body.h"

#include <nlohmann/json.hpp>
#include <string_view>

#include "base/rfc3339.h"
#include "report/usage_text.h"

namespace gpupool::report {
namespace {

using Json = nlohmann::json;

// In a merge patch null removes the field that an older status had.
Json text_or_null(const std::string& text) { return text.empty() ? Json(nullptr) : Json(text); }

// Kubernetes 1.20 reads an empty string inside a list as null and refuses it, so an empty text is left out.
void set_text(Json& object, const char* key, std::string_view text) {
  if (!text.empty()) object[key] = text;
}

Json time_or_null(const std::optional<base::WallTime>& time) {
  return time ? Json(base::to_rfc3339(*time)) : Json(nullptr);
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

void set_number(Json& object, const char* key, const std::optional<std::int64_t>& number) {
  if (number) object[key] = *number;
}

std::int64_t milliseconds(base::Duration time) {
  return std::chrono::duration_cast<std::chrono::milliseconds>(time).count();
}

// Null for a GPU of which nothing is known. One that does not answer now keeps its counters.
Json usage_of(const std::string& gpu, const telemetry::Telemetry& telemetry) {
  Json usage;
  if (const auto found = telemetry.readings.find(gpu); found != telemetry.readings.end()) {
    const auto& reading = found->second;
    set_number(usage, "utilizationPercent", reading.gpu_percent);
    set_number(usage, "memoryUsedMiB", reading.memory_used_mib);
    set_number(usage, "temperatureCelsius", reading.temperature_celsius);
    set_number(usage, "powerMilliwatts", reading.power_milliwatts);
  }
  if (const auto found = telemetry.busy.find(gpu); found != telemetry.busy.end()) {
    usage["busyMilliseconds"] = milliseconds(found->second.busy);
    usage["sampledMilliseconds"] = milliseconds(found->second.sampled);
    usage["since"] = base::to_rfc3339(found->second.since);
  }
  return usage;
}

Json to_json(const UsageText& text) {
  return {{"utilization", text_or_null(text.utilization)}, {"memory", text_or_null(text.memory)}};
}

Json to_json(const api::GpuNodeGpu& gpu, const telemetry::Telemetry& telemetry) {
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
  if (auto usage = usage_of(gpu.uuid, telemetry); !usage.is_null()) object["usage"] = std::move(usage);
  return object;
}

// Null where there is none: who does not enforce limits writes nothing about them.
Json excesses_of(const api::GpuNodeStatus& status) {
  if (status.excesses.empty()) return nullptr;
  auto list = Json::array();
  for (const auto& excess : status.excesses) {
    Json object = {{"device", excess.device},
                   {"usedMiB", excess.used_mib},
                   {"limitMiB", excess.limit_mib},
                   {"end", excess.end}};
    set_text(object, "namespace", excess.ns);
    set_text(object, "pod", excess.pod);
    set_text(object, "podUID", excess.pod_uid);
    if (excess.since) object["since"] = base::to_rfc3339(*excess.since);
    list.push_back(std::move(object));
  }
  return list;
}

Json owners(const std::string& node, const std::string& node_uid) {
  return Json::array({{{"apiVersion", "v1"}, {"kind", "Node"}, {"name", node}, {"uid", node_uid}}});
}

// Texts of a driver may hold bytes that are not UTF-8; they are replaced, because dump() would throw.
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

std::string status_body(const std::string& resource_version, const api::GpuNodeStatus& status,
                        const telemetry::Telemetry& telemetry) {
  auto gpus = Json::array();
  for (const auto& gpu : status.gpus) gpus.push_back(to_json(gpu, telemetry));
  const Json body = {
      {"pluginVersion", text_or_null(status.plugin_version)},
      {"driverVersion", text_or_null(status.driver_version)},
      {"cudaVersion", text_or_null(status.cuda_version)},
      {"message", text_or_null(status.message)},
      {"lastReport", time_or_null(status.last_report)},
      {"lastSample", time_or_null(telemetry.taken)},
      {"usage", to_json(describe_usage(status, telemetry))},
      {"conditions", to_json(status.conditions)},
      {"gpuCounts", {{"total", status.gpu_counts.total}, {"healthy", status.gpu_counts.healthy}}},
      {"sliceCounts", {{"total", status.slice_counts.total}, {"free", status.slice_counts.free}}},
      {"gpus", std::move(gpus)},
      {"excesses", excesses_of(status)}};
  return text_of({{"metadata", {{"resourceVersion", resource_version}}}, {"status", body}});
}

}  // namespace gpupool::report
