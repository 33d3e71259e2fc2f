#include "agent/table_text.h"

#include <nlohmann/json.hpp>

namespace gpupool::agent {

namespace {

using nlohmann::json;
constexpr int kVersion = 1;

json to_json(const slices::Resource& resource) {
  json gpus = json::array();
  for (const auto& gpu : resource.gpus) {
    gpus.push_back({{"uuid", gpu.uuid},
                    {"index", gpu.index},
                    {"minor", gpu.minor},
                    {"numaNode", gpu.numa_node},
                    {"splitCount", gpu.split_count},
                    {"limited", gpu.limited}});
  }
  json slices = json::array();
  for (const auto& slice : resource.slices) {
    slices.push_back({{"id", slice.id},
                      {"gpu", slice.gpu},
                      {"visible", slice.visible},
                      {"ordinal", slice.ordinal},
                      {"memoryMiB", slice.memory_mib},
                      {"cores", slice.cores},
                      {"healthy", slice.healthy},
                      {"reason", slice.unhealthy_reason}});
  }
  return {{"name", resource.name},
          {"policy", static_cast<int>(resource.policy)},
          {"gpus", std::move(gpus)},
          {"slices", std::move(slices)}};
}

slices::SlicedGpu gpu_from(const json& from) {
  slices::SlicedGpu gpu;
  from.at("uuid").get_to(gpu.uuid);
  from.at("index").get_to(gpu.index);
  from.at("minor").get_to(gpu.minor);
  from.at("numaNode").get_to(gpu.numa_node);
  from.at("splitCount").get_to(gpu.split_count);
  from.at("limited").get_to(gpu.limited);
  return gpu;
}

slices::Slice slice_from(const json& from) {
  slices::Slice slice;
  from.at("id").get_to(slice.id);
  from.at("gpu").get_to(slice.gpu);
  from.at("visible").get_to(slice.visible);
  from.at("ordinal").get_to(slice.ordinal);
  from.at("memoryMiB").get_to(slice.memory_mib);
  from.at("cores").get_to(slice.cores);
  from.at("healthy").get_to(slice.healthy);
  from.at("reason").get_to(slice.unhealthy_reason);
  return slice;
}

slices::Resource resource_from(const json& from) {
  slices::Resource resource;
  from.at("name").get_to(resource.name);
  const int policy = from.at("policy").get<int>();
  if (policy >= 0 && policy <= static_cast<int>(settings::Policy::kDistinct)) {
    resource.policy = static_cast<settings::Policy>(policy);
  }
  for (const auto& gpu : from.at("gpus")) resource.gpus.push_back(gpu_from(gpu));
  for (const auto& slice : from.at("slices")) resource.slices.push_back(slice_from(slice));
  return resource;
}

}  // namespace

std::string to_text(const slices::Table& table) {
  json resources = json::array();
  for (const auto& resource : table.resources) resources.push_back(to_json(resource));
  return json{{"version", kVersion}, {"resources", std::move(resources)}}.dump(
      -1, ' ', false, json::error_handler_t::replace);
}

base::Result<slices::Table> table_from_text(const std::string& text) {
  try {
    const auto from = json::parse(text);
    if (from.at("version").get<int>() != kVersion) {
      return base::fail(base::ErrorCode::kParse, "written by another version of the plugin");
    }
    slices::Table table;
    for (const auto& resource : from.at("resources")) table.resources.push_back(resource_from(resource));
    return table;
  } catch (const json::exception& error) {
    return base::fail(base::ErrorCode::kParse, error.what());
  }
}

}  // namespace gpupool::agent
