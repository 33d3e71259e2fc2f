// SPDX-License-Identifier: Apache-2.0
#include <optional>

#include "tests/fake-nvml/machine.h"
#include "tests/fake-nvml/pci.h"

// NVML's functions about how GPUs are connected.
using namespace gpupool::fake_nvml;

namespace {

// The n-th link of a GPU, counted over all entries; nothing beyond the last.
std::optional<Nvlink> link_at(const Gpu& gpu, unsigned int link) {
  for (const Nvlink& entry : gpu.nvlinks) {
    if (link < entry.links) return entry;
    link -= entry.links;
  }
  return std::nullopt;
}

template <class Answer>
Return with_link(Device device, unsigned int link, Answer answer) {
  return with_device(device, [&](const Target& target) {
    if (target.gpu->nvlinks.empty()) return Return::kNotSupported;
    const auto found = link_at(*target.gpu, link);
    return found ? answer(*found) : Return::kInvalidArgument;
  });
}

unsigned int common_ancestor(const Gpu& one, const Gpu& other) {
  if (one.board != 0 && one.board == other.board) return nvml::kTopologyInternal;
  if (one.pci_switch != 0 && one.pci_switch == other.pci_switch) return nvml::kTopologySingle;
  return one.numa_node == other.numa_node ? nvml::kTopologyNode : nvml::kTopologySystem;
}

}  // namespace

extern "C" {

Return nvmlDeviceGetTopologyCommonAncestor(Device one, Device other, unsigned int* level) {
  return with_device(one, [&](const Target& target) {
    Target peer;
    if (const Return code = machine().resolve(other, peer); code != Return::kSuccess) return code;
    *level = common_ancestor(*target.gpu, *peer.gpu);
    return Return::kSuccess;
  });
}

Return nvmlDeviceGetNvLinkState(Device device, unsigned int link, unsigned int* active) {
  return with_link(device, link, [&](const Nvlink&) {
    *active = nvml::kEnabled;
    return Return::kSuccess;
  });
}

Return nvmlDeviceGetNvLinkRemoteDeviceType(Device device, unsigned int link, unsigned int* type) {
  return with_link(device, link, [&](const Nvlink& found) {
    *type = found.gpu ? nvml::kNvlinkToGpu : nvml::kNvlinkToSwitch;
    return Return::kSuccess;
  });
}

Return nvmlDeviceGetNvLinkRemotePciInfo_v2(Device device, unsigned int link, nvml::PciInfo* pci) {
  return with_link(device, link, [&](const Nvlink& found) {
    const auto& gpus = machine().world().gpus;
    *pci = found.gpu && *found.gpu < gpus.size() ? pci_info_of(gpus[*found.gpu]) : nvml::PciInfo{};
    return Return::kSuccess;
  });
}

}  // extern "C"
