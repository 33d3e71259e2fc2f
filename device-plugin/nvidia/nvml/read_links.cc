// SPDX-License-Identifier: Apache-2.0
#include "nvidia/nvml/read_links.h"

#include <algorithm>
#include <map>
#include <string>

namespace gpupool::nvidia {

using nvml::Return;

namespace {

// Where the active NVLinks of one GPU lead.
struct Nvlinks {
  std::map<std::string, std::int64_t> to_gpu;  // by PCI bus ID
  std::int64_t to_switch = 0;
};

Nvlinks read_nvlinks(const NvmlFunctions& nvml, nvml::Device device) {
  Nvlinks found;
  for (unsigned int link = 0; link < nvml::kMaxNvlinks; ++link) {
    unsigned int active = 0;
    if (invoke(nvml.nvlink_state, device, link, &active) != Return::kSuccess) break;  // there are no more
    if (active != nvml::kEnabled) continue;
    unsigned int type = nvml::kNvlinkToGpu;
    if (invoke(nvml.nvlink_remote_type, device, link, &type) == Return::kSuccess &&
        type == nvml::kNvlinkToSwitch) {
      ++found.to_switch;
      continue;
    }
    nvml::PciInfo remote{};
    if (invoke(nvml.nvlink_remote_pci, device, link, &remote) == Return::kSuccess) {
      ++found.to_gpu[remote.bus_id];
    }
  }
  return found;
}

std::int64_t nvlinks_between(const Nvlinks& here, const Nvlinks& there, const inventory::Gpu& peer) {
  const auto direct = here.to_gpu.find(peer.pci_bus_id);
  const std::int64_t count = direct != here.to_gpu.end() ? direct->second : 0;
  return count + std::min(here.to_switch, there.to_switch);
}

inventory::Distance over_pci(const NvmlFunctions& nvml, nvml::Device here, nvml::Device there) {
  unsigned int level = nvml::kTopologySystem;
  if (invoke(nvml.common_ancestor, here, there, &level) != Return::kSuccess)
    return inventory::Distance::kSystem;
  switch (level) {
    case nvml::kTopologyInternal:
      return inventory::Distance::kSameBoard;
    case nvml::kTopologySingle:
      return inventory::Distance::kSingleSwitch;
    case nvml::kTopologyMultiple:
      return inventory::Distance::kMultipleSwitches;
    case nvml::kTopologyHostBridge:
      return inventory::Distance::kHostBridge;
    case nvml::kTopologyNode:
      return inventory::Distance::kSameCpu;
    default:
      return inventory::Distance::kSystem;
  }
}

}  // namespace

void read_links(const NvmlFunctions& nvml, const std::vector<nvml::Device>& devices,
                std::vector<inventory::Gpu>& gpus) {
  std::vector<Nvlinks> nvlinks;
  nvlinks.reserve(devices.size());
  for (const nvml::Device device : devices) nvlinks.push_back(read_nvlinks(nvml, device));
  for (std::size_t i = 0; i < gpus.size(); ++i) {
    for (std::size_t j = i + 1; j < gpus.size(); ++j) {
      const std::int64_t count = nvlinks_between(nvlinks[i], nvlinks[j], gpus[j]);
      const inventory::Distance distance =
          count > 0 ? inventory::Distance::kNvlink : over_pci(nvml, devices[i], devices[j]);
      gpus[i].links.push_back({.peer = gpus[j].uuid, .distance = distance, .nvlinks = count});
      gpus[j].links.push_back({.peer = gpus[i].uuid, .distance = distance, .nvlinks = count});
    }
  }
  for (inventory::Gpu& gpu : gpus) std::ranges::sort(gpu.links, {}, &inventory::Link::peer);
}

}  // namespace gpupool::nvidia
