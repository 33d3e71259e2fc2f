// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "tests/fake-nvml/driver_use.h"
#include "tests/fake-nvml/machine.h"

// NVML's functions about the processes on a GPU.
using namespace gpupool::fake_nvml;

namespace {

struct ProcessSample {
  unsigned int pid;
  unsigned long long timestamp_us;
  unsigned int sm;
  unsigned int memory;
  unsigned int encoder;
  unsigned int decoder;
};
static_assert(sizeof(ProcessSample) == 32);

// NVML's way with lists: `count` says how much fits, and becomes how much there is.
template <class T, class Make>
Return put_list(const std::vector<UsingProcess>& processes, unsigned int* count, T* out, Make make) {
  const unsigned int room = *count;
  *count = static_cast<unsigned int>(processes.size());
  if (processes.empty()) return Return::kSuccess;
  if (room < processes.size() || out == nullptr) return Return::kInsufficientSize;
  std::ranges::transform(processes, out, make);
  return Return::kSuccess;
}

}  // namespace

extern "C" {

Return nvmlDeviceGetComputeRunningProcesses_v3(Device device, unsigned int* count, nvml::ProcessInfo* infos) {
  return with_device(device, [&](const Target& target) {
    return put_list(using_processes(target), count, infos, [](const UsingProcess& process) {
      return nvml::ProcessInfo{process.pid, process.bytes, nvml::kNoInstance, nvml::kNoInstance};
    });
  });
}

Return nvmlDeviceGetProcessUtilization(Device device, ProcessSample* samples, unsigned int* count,
                                       unsigned long long last_seen_us) {
  return with_device(device, [&](const Target& target) {
    const unsigned long long now = last_seen_us + 1;
    return put_list(using_processes(target), count, samples, [now](const UsingProcess& process) {
      return ProcessSample{process.pid, now, process.utilization, 0, 0, 0};
    });
  });
}

}  // extern "C"
