// SPDX-License-Identifier: Apache-2.0
#include "tests/fake-nvml/parse_world.h"

#include <algorithm>
#include <cstdio>
#include <initializer_list>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string_view>

#include "tests/fake-nvml/mig_profiles.h"
#include "tests/fake-nvml/models.h"

namespace gpupool::fake_nvml {

namespace {

using Json = nlohmann::json;

void allow_only(const Json& object, std::string_view what, std::initializer_list<std::string_view> keys) {
  for (const auto& [key, value] : object.items()) {
    if (std::ranges::find(keys, key) == keys.end()) {
      throw std::runtime_error(std::string(what) + ": unknown key \"" + key + "\"");
    }
  }
}

// The same UUID for the same node and GPU in every process.
std::string make_uuid(const std::string& prefix, const std::string& node, std::size_t index) {
  std::uint64_t hash = 0xcbf29ce484222325ULL;  // FNV-1a
  for (const char c : node) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3ULL;
  char text[48];
  std::snprintf(text, sizeof text, "%08x-%04x-4000-8000-%012zx",
                static_cast<unsigned int>(hash & 0xFFFFFFFFU), static_cast<unsigned int>(hash >> 48U), index);
  return prefix + text;
}

State parse_state(const std::string& text) {
  if (text == "ok") return State::kOk;
  if (text == "lost") return State::kLost;
  if (text == "failing") return State::kFailing;
  if (text == "reset-required") return State::kResetRequired;
  throw std::runtime_error("state is \"" + text + "\", not ok, lost, failing or reset-required");
}

void parse_model(const Json& json, Gpu& gpu) {
  gpu.model = json.value("model", "NVIDIA H100 80GB HBM3");
  if (const Model* model = find_model(gpu.model)) {
    gpu.memory_mib = model->memory_mib;
    gpu.compute_major = model->compute_major;
    gpu.compute_minor = model->compute_minor;
    gpu.architecture = model->architecture;
    gpu.brand = model->brand;
    gpu.pci_device_id = model->pci_device_id;
    gpu.mig_capable = model->mig_capable;
    gpu.multiprocessors = model->multiprocessors;
  } else if (!json.contains("memoryMiB") || !json.contains("computeCapability")) {
    throw std::runtime_error("model \"" + gpu.model + "\" is not known: say memoryMiB and computeCapability");
  }
  gpu.memory_mib = json.value("memoryMiB", gpu.memory_mib);
  gpu.multiprocessors = json.value("multiprocessors", gpu.multiprocessors != 0 ? gpu.multiprocessors : 64);
  // About what an H100 takes.
  gpu.context_mib = json.value("contextMiB", std::uint64_t{4} * gpu.multiprocessors);
  if (json.contains("computeCapability")) {
    const auto text = json.at("computeCapability").get<std::string>();
    const auto dot = text.find('.');
    gpu.compute_major = std::stoi(text);
    gpu.compute_minor = dot == std::string::npos ? 0 : std::stoi(text.substr(dot + 1));
  }
}

void parse_mig(const Json& json, const std::string& node, std::size_t index, Gpu& gpu) {
  if (!json.contains("mig")) return;
  gpu.mig_enabled = true;
  gpu.mig_capable = true;
  for (const Json& entry : json.at("mig")) {
    allow_only(entry, "mig", {"profile", "uuid", "memoryMiB", "gpuInstance", "computeInstance"});
    MigInstance instance;
    const auto place = static_cast<unsigned int>(gpu.mig.size());
    instance.profile = entry.at("profile").get<std::string>();
    const MigSize size = size_of_profile(instance.profile);
    if (size.gpu_slices == 0) throw std::runtime_error("mig: \"" + instance.profile + "\" is no profile");
    instance.gpu_slices = size.gpu_slices;
    instance.compute_slices = size.compute_slices;
    instance.memory_mib = entry.value("memoryMiB", size.gib * 1024);
    instance.uuid = entry.value("uuid", make_uuid("MIG-", node, (index + 1) * 256 + place));
    instance.gpu_instance = entry.value("gpuInstance", place + 1);
    instance.compute_instance = entry.value("computeInstance", 0U);
    gpu.mig.push_back(std::move(instance));
  }
}

void parse_lists(const Json& json, Gpu& gpu) {
  for (const Json& entry : json.value("nvlinks", Json::array())) {
    allow_only(entry, "nvlinks", {"gpu", "links"});
    Nvlink link;
    if (entry.contains("gpu")) link.gpu = entry.at("gpu").get<unsigned int>();
    link.links = entry.at("links").get<unsigned int>();
    gpu.nvlinks.push_back(link);
  }
  for (const Json& entry : json.value("processes", Json::array())) {
    allow_only(entry, "processes", {"pid", "usedMiB", "utilization"});
    gpu.processes.push_back({.pid = entry.at("pid").get<unsigned int>(),
                             .used_mib = entry.value("usedMiB", std::uint64_t{0}),
                             .utilization = entry.value("utilization", 0U)});
  }
}

Gpu parse_gpu(const Json& json, const std::string& node, std::size_t index) {
  const auto place = static_cast<unsigned int>(index);
  Gpu gpu;
  parse_model(json, gpu);
  gpu.uuid = json.value("uuid", make_uuid("GPU-", node, index));
  gpu.used_mib = json.value("usedMiB", std::uint64_t{0});
  gpu.minor = json.value("minor", place);
  gpu.pci_bus = json.value("pciBus", 0x10U + place);
  gpu.pci_switch = json.value("switch", 0U);
  gpu.board = json.value("board", 0U);
  gpu.numa_node = json.value("numaNode", 0U);
  gpu.utilization = json.value("utilization", 0U);
  gpu.temperature = json.value("temperature", 35U);
  gpu.power_milliwatts = json.value("powerMilliwatts", 70000U);
  gpu.state = parse_state(json.value("state", "ok"));
  if (json.contains("recoveryAction")) gpu.recovery_action = json.at("recoveryAction").get<unsigned int>();
  gpu.remapping_failed = json.value("remappingFailed", false);
  parse_mig(json, node, index, gpu);
  parse_lists(json, gpu);
  return gpu;
}

World parse(const Json& json) {
  allow_only(json, "top level", {"node", "driver", "gpus", "xids"});
  World world;
  const std::string node = json.value("node", "");
  const Json driver = json.value("driver", Json::object());
  allow_only(driver, "driver", {"version", "cuda", "loaded", "load", "poolGrowthMiB"});
  world.driver_version = driver.value("version", world.driver_version);
  world.cuda_version = driver.value("cuda", world.cuda_version);
  world.loaded = driver.value("loaded", true);
  world.pool_growth_mib = driver.value("poolGrowthMiB", world.pool_growth_mib);
  world.load = driver.value("load", world.load);
  for (const Json& entry : json.value("gpus", Json::array())) {
    allow_only(entry, "gpus",
               {"count",           "uuid",       "model",           "memoryMiB",       "computeCapability",
                "usedMiB",         "contextMiB", "multiprocessors", "minor",           "pciBus",
                "switch",          "board",      "numaNode",        "utilization",     "temperature",
                "powerMilliwatts", "state",      "recoveryAction",  "remappingFailed", "mig",
                "nvlinks",         "processes"});
    const auto count = entry.value("count", 1U);
    for (unsigned int i = 0; i < count; ++i) world.gpus.push_back(parse_gpu(entry, node, world.gpus.size()));
  }
  for (const Json& entry : json.value("xids", Json::array())) {
    allow_only(entry, "xids", {"sequence", "gpu", "xid"});
    world.xids.push_back({.sequence = entry.at("sequence").get<std::uint64_t>(),
                          .gpu = entry.at("gpu").get<unsigned int>(),
                          .xid = entry.at("xid").get<std::uint64_t>()});
  }
  std::ranges::sort(world.xids, {}, &Xid::sequence);
  return world;
}

}  // namespace

Parsed parse_world(const std::string& text) {
  try {
    return {.world = parse(Json::parse(text)), .error = {}};
  } catch (const std::exception& e) {
    return {.world = {}, .error = e.what()};
  }
}

}  // namespace gpupool::fake_nvml
