// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <chrono>
#include <optional>

#include "tests/fake-nvml/file_wait.h"
#include "tests/fake-nvml/machine.h"

// NVML's event functions.
using namespace gpupool::fake_nvml;

namespace {

// The answer of one look; nothing: go on waiting.
std::optional<Return> look(nvml::EventSet set, nvml::EventData& data) {
  Machine& m = machine();
  const std::lock_guard lock(m.mutex);
  if (const Return code = m.ready(); code != Return::kSuccess) return code;
  Subscription* subscription = m.subscription(set);
  if (subscription == nullptr) return Return::kInvalidArgument;
  const World& world = m.world();
  for (const Xid& xid : world.xids) {
    if (xid.sequence <= subscription->last_sequence) continue;
    subscription->last_sequence = xid.sequence;
    if (xid.gpu >= world.gpus.size() || !subscription->gpus.contains(world.gpus[xid.gpu].uuid)) continue;
    data = {.device = m.handle(world.gpus[xid.gpu].uuid),
            .type = nvml::kEventXidCritical,
            .data = xid.xid,
            .gpu_instance = nvml::kNoInstance,
            .compute_instance = nvml::kNoInstance};
    return Return::kSuccess;
  }
  const bool lost = std::ranges::any_of(world.gpus, [&](const Gpu& gpu) {
    return gpu.state == State::kLost && subscription->gpus.contains(gpu.uuid);
  });
  if (lost) return Return::kGpuIsLost;
  return std::nullopt;
}

}  // namespace

extern "C" {

Return nvmlDeviceGetSupportedEventTypes(Device device, unsigned long long* types) {
  return with_device(device, [&](const Target&) {
    *types = nvml::kEventXidCritical | nvml::kEventDoubleBitEcc | nvml::kEventSingleBitEcc;
    return Return::kSuccess;
  });
}

Return nvmlEventSetCreate(nvml::EventSet* set) {
  return with_world([&](const World&) {
    *set = machine().make_event_set();
    return Return::kSuccess;
  });
}

Return nvmlDeviceRegisterEvents(Device device, unsigned long long types, nvml::EventSet set) {
  return with_device(device, [&](const Target& target) {
    Subscription* subscription = machine().subscription(set);
    if (subscription == nullptr) return Return::kInvalidArgument;
    if ((types & nvml::kEventXidCritical) != 0) subscription->gpus.insert(target.gpu->uuid);
    return Return::kSuccess;
  });
}

Return nvmlEventSetWait_v2(nvml::EventSet set, nvml::EventData* data, unsigned int timeout_ms) {
  using Clock = std::chrono::steady_clock;
  const auto deadline = Clock::now() + std::chrono::milliseconds(timeout_ms);
  std::optional<FileWait> change;
  while (true) {
    if (const auto answer = look(set, *data)) return *answer;
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now());
    if (left.count() <= 0) return Return::kTimeout;
    if (change) {
      change->wait(left);
    } else {
      change.emplace(machine().control_path());  // and look once more: it may have changed before
    }
  }
}

Return nvmlEventSetFree(nvml::EventSet set) {
  Machine& m = machine();
  const std::lock_guard lock(m.mutex);
  return m.drop_event_set(set) ? Return::kSuccess : Return::kInvalidArgument;
}

}  // extern "C"
