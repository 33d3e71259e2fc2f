// SPDX-License-Identifier: Apache-2.0
#include "nvidia/nvml/list_gpus.h"

#include <algorithm>
#include <array>
#include <set>

#include "nvidia/nvml/read_gpu.h"
#include "nvidia/nvml/read_links.h"

namespace gpupool::nvidia {

using nvml::Return;

namespace {

inventory::Driver read_driver(const NvmlFunctions& nvml) {
  inventory::Driver driver;
  std::array<char, nvml::kVersionSize> version{};
  if (invoke(nvml.driver_version, version.data(), static_cast<unsigned int>(nvml::kVersionSize)) ==
      Return::kSuccess) {
    driver.version = version.data();
  }
  int cuda = 0;  // 12040 is 12.4
  if (invoke(nvml.cuda_version, &cuda) == Return::kSuccess) {
    driver.cuda_version = std::to_string(cuda / 1000) + "." + std::to_string(cuda % 1000 / 10);
  }
  return driver;
}

struct Answers {
  std::vector<nvml::Device> devices;
  std::vector<inventory::Gpu> gpus;    // those that answered, at the same positions
  std::vector<inventory::Gpu> silent;  // those listed as before
  Return failure = Return::kSuccess;   // of the last GPU that did not answer
};

Answers ask_all(NvmlSession& session, unsigned int count, const std::string& sysfs,
                const inventory::Inventory& before, const base::Log& log) {
  const NvmlFunctions& nvml = session.nvml();
  Answers answers;
  for (unsigned int i = 0; i < count; ++i) {
    nvml::Device device = nullptr;
    Return failure = nvml.handle_by_index(i, &device);
    if (failure == Return::kSuccess) {
      auto gpu = read_gpu(nvml, device, sysfs);
      if (gpu) {
        answers.devices.push_back(device);
        answers.gpus.push_back(std::move(*gpu));
        continue;
      }
      failure = gpu.error();
    }
    answers.failure = failure;
    log.warning("GPU does not answer", {{"index", i}, {"error", nvml.explain(failure)}});
    const auto known = std::ranges::find(before.gpus, std::int64_t{i}, &inventory::Gpu::index);
    if (failure != Return::kGpuIsLost && known != before.gpus.end()) answers.silent.push_back(*known);
  }
  return answers;
}

// Links stay while the driver runs, and asking for them takes hundreds of calls. Not asked again unless a GPU
// came or went, or its MIG mode changed, which cuts NVLink.
bool take_links(const inventory::Inventory& before, std::vector<inventory::Gpu>& gpus) {
  const auto same = [](const inventory::Gpu& a, const inventory::Gpu& b) {
    return a.uuid == b.uuid && a.mig_enabled == b.mig_enabled;
  };
  if (!std::ranges::equal(before.gpus, gpus, same)) return false;
  for (std::size_t i = 0; i < gpus.size(); ++i) gpus[i].links = before.gpus[i].links;
  return true;
}

}  // namespace

ListedGpus list_gpus(NvmlSession& session, const std::string& sysfs, const inventory::Inventory& before,
                     const base::Log& log) {
  ListedGpus listed;
  const NvmlFunctions& nvml = session.nvml();
  unsigned int count = 0;
  listed.result = nvml.device_count(&count);
  if (listed.result != Return::kSuccess) return listed;
  listed.inventory.driver = read_driver(nvml);

  Answers answers = ask_all(session, count, sysfs, before, log);
  // If no GPU answers, the driver is at fault: a driver that was unloaded meanwhile fails for every GPU.
  if (answers.gpus.empty() && answers.failure != Return::kSuccess && answers.failure != Return::kGpuIsLost) {
    listed.result = answers.failure;
    return listed;
  }
  if (!take_links(before, answers.gpus)) read_links(nvml, answers.devices, answers.gpus);

  std::set<std::string> uuids;
  for (std::size_t i = 0; i < answers.gpus.size(); ++i) {
    uuids.insert(answers.gpus[i].uuid);
    session.know(answers.gpus[i].uuid, answers.devices[i]);
  }
  auto& gpus = listed.inventory.gpus;
  gpus = std::move(answers.gpus);
  for (inventory::Gpu& gpu : answers.silent) {
    if (uuids.insert(gpu.uuid).second) gpus.push_back(std::move(gpu));
  }
  session.know_only(uuids);
  std::ranges::stable_sort(gpus, {}, &inventory::Gpu::index);
  return listed;
}

}  // namespace gpupool::nvidia
