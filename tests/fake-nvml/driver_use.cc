// SPDX-License-Identifier: Apache-2.0
#include "tests/fake-nvml/driver_use.h"

#include "tests/fake-cuda/state.h"

namespace gpupool::fake_nvml {

namespace {

constexpr std::uint64_t kMebibyte = 1ULL << 20U;

// The driver's state file; null: no process has used the driver. Callers hold the machine's mutex.
fake_cuda::StateFile* driver_state() {
  static fake_cuda::StateFile state;
  if (!state.is_open()) state.open(fake_cuda::StateFile::default_path(), false);
  return state.is_open() ? &state : nullptr;
}

// Calls use(state, position) for the device, and for the MIG devices of a GPU.
template <class Use>
void each_device(const Target& target, Use use) {
  fake_cuda::StateFile* const state = driver_state();
  if (state == nullptr) return;
  const auto visit = [&](const std::string& uuid) {
    if (const int position = state->device(uuid, false); position >= 0)
      use(*state, static_cast<unsigned>(position));
  };
  visit(target.mig != nullptr ? target.mig->uuid : target.gpu->uuid);
  if (target.mig != nullptr) return;
  for (const MigInstance& mig : target.gpu->mig) visit(mig.uuid);
}

}  // namespace

std::uint64_t used_bytes(const Target& target) {
  std::uint64_t total = target.gpu->used_mib * kMebibyte;
  each_device(target, [&](fake_cuda::StateFile& state, unsigned device) { total += state.used(device); });
  return total;
}

std::vector<UsingProcess> using_processes(const Target& target) {
  std::vector<UsingProcess> found;
  for (const Process& process : target.gpu->processes) {
    found.push_back(
        {.pid = process.pid, .bytes = process.used_mib * kMebibyte, .utilization = process.utilization});
  }
  each_device(target, [&](fake_cuda::StateFile& state, unsigned device) {
    for (const auto& process : state.processes(device)) {
      if (process.pid == 0) continue;
      found.push_back({.pid = static_cast<unsigned int>(process.pid), .bytes = process.on_device()});
    }
  });
  return found;
}

}  // namespace gpupool::fake_nvml
