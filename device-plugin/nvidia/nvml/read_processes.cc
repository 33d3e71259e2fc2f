// SPDX-License-Identifier: Apache-2.0
#include "nvidia/nvml/read_processes.h"

#include <algorithm>
#include <map>

namespace gpupool::nvidia {

using nvml::Return;

namespace {

constexpr unsigned int kMostProcesses = 65536;
constexpr int kListTries = 5;

using List = Return (*)(nvml::Device, unsigned int*, nvml::ProcessInfo*);

// NVML says how much there is when the room is too small; by then it may be more again.
Return read_list(List list, nvml::Device device, std::vector<nvml::ProcessInfo>& processes) {
  processes.resize(16);
  for (int i = 0; i < kListTries; ++i) {
    auto count = static_cast<unsigned int>(processes.size());
    const Return result = invoke(list, device, &count, processes.data());
    if (result == Return::kSuccess) {
      processes.resize(std::min<std::size_t>(count, processes.size()));
      return result;
    }
    if (result != Return::kInsufficientSize || count > kMostProcesses) return result;
    processes.resize(2 * static_cast<std::size_t>(count) + 16);
  }
  return Return::kInsufficientSize;
}

}  // namespace

base::Result<std::vector<inventory::ProcessUse>> read_processes(const NvmlFunctions& nvml,
                                                                nvml::Device device) {
  std::map<std::int64_t, std::optional<std::uint64_t>> by_pid;
  Return first = Return::kSuccess;
  bool any = false;
  for (const List list : {nvml.compute_processes, nvml.graphics_processes, nvml.mps_processes}) {
    std::vector<nvml::ProcessInfo> processes;
    const Return result = read_list(list, device, processes);
    if (result != Return::kSuccess) {
      if (first == Return::kSuccess) first = result;
      continue;
    }
    any = true;
    for (const nvml::ProcessInfo& process : processes) {
      auto& bytes = by_pid[process.pid];
      // A process in two lists is the same memory twice.
      if (process.used_bytes != nvml::kBytesUnknown) {
        bytes = std::max<std::uint64_t>(bytes.value_or(0), process.used_bytes);
      }
    }
  }
  if (!any) {
    return base::fail(base::ErrorCode::kInvalid,
                      "the driver does not tell which processes use the GPU: " + nvml.explain(first));
  }
  std::vector<inventory::ProcessUse> uses;
  uses.reserve(by_pid.size());
  for (const auto& [pid, bytes] : by_pid) uses.push_back({pid, bytes});
  return uses;
}

}  // namespace gpupool::nvidia
