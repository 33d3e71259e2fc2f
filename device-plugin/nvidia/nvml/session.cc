// SPDX-License-Identifier: Apache-2.0
#include "nvidia/nvml/session.h"

#include <array>
#include <utility>

namespace gpupool::nvidia {

using nvml::Return;

bool driver_is_gone(Return code) {
  return code == Return::kUninitialized || code == Return::kDriverNotLoaded ||
         code == Return::kLibraryMismatch;
}

base::Result<std::unique_ptr<NvmlSession>> NvmlSession::open(const std::string& library) {
  auto loaded = NvmlLibrary::load(library);
  if (!loaded) return tl::unexpected(std::move(loaded.error()));
  const NvmlFunctions& functions = (*loaded)->functions();
  if (const Return done = functions.init(); done != Return::kSuccess) {
    return base::fail(base::ErrorCode::kNotFound, "no NVIDIA driver: " + functions.explain(done));
  }
  std::unique_ptr<NvmlSession> session(new NvmlSession(std::move(*loaded)));
  if (invoke(session->nvml().event_set_create, &session->events_) != Return::kSuccess) {
    session->events_ = nullptr;
  }
  return session;
}

NvmlSession::~NvmlSession() {
  if (events_ != nullptr) invoke(nvml().event_set_free, events_);
  nvml().shutdown();
}

void NvmlSession::know(const std::string& uuid, nvml::Device device) {
  {
    const base::MutexLock lock(mutex_);
    if (const auto [at, is_new] = known_.insert_or_assign(uuid, device); !is_new) return;
  }
  ask_for_events(device);
}

void NvmlSession::know_only(const std::set<std::string>& uuids) {
  const base::MutexLock lock(mutex_);
  std::erase_if(known_, [&](const auto& known) { return !uuids.contains(known.first); });
}

nvml::Device NvmlSession::device(const std::string& uuid) const {
  const base::MutexLock lock(mutex_);
  const auto at = known_.find(uuid);
  return at != known_.end() ? at->second : nullptr;
}

// A GPU without support for events is watched by probes alone.
void NvmlSession::ask_for_events(nvml::Device device) {
  if (events_ == nullptr) return;
  unsigned long long supported = nvml::kEventXidCritical;
  if (invoke(nvml().supported_events, device, &supported) != Return::kSuccess) {
    supported = nvml::kEventXidCritical;
  }
  if ((supported & nvml::kEventXidCritical) == 0) return;
  invoke(nvml().register_events, device, nvml::kEventXidCritical, events_);
}

NvmlSession::Waited NvmlSession::wait(std::chrono::milliseconds limit) {
  Waited waited;
  if (events_ == nullptr) {
    waited.result = Return::kNotSupported;
    return waited;
  }
  constexpr std::size_t kMost = 256;  // a GPU that fails may tell so without end
  auto timeout = static_cast<unsigned int>(limit.count());
  while (waited.events.size() < kMost) {
    nvml::EventData event{};
    waited.result = invoke(nvml().event_set_wait, events_, &event, timeout);
    if (waited.result != Return::kSuccess) break;
    if (event.type == nvml::kEventXidCritical) {
      waited.events.push_back({.gpu = uuid_of(event.device), .code = event.data});
    }
    timeout = 0;
  }
  return waited;
}

std::string NvmlSession::uuid_of(nvml::Device device) const {
  {
    // Known handles are compared first: NVML may not know the UUID of a GPU that has fallen off the bus.
    const base::MutexLock lock(mutex_);
    for (const auto& [uuid, known] : known_) {
      if (known == device) return uuid;
    }
  }
  std::array<char, nvml::kUuidSize> text{};
  if (nvml().uuid(device, text.data(), nvml::kUuidSize) != Return::kSuccess) return {};
  return text.data();
}

}  // namespace gpupool::nvidia
