// SPDX-License-Identifier: Apache-2.0
#include "tests/fake-nvml/machine.h"

#include <algorithm>
#include <cstring>

namespace gpupool::fake_nvml {

Return Machine::init() {
  const World& now = control_.read();
  if (!now.loaded) return Return::kDriverNotLoaded;
  if (users_++ == 0) {
    version_ = now.driver_version;
    load_ = now.load;
  }
  return Return::kSuccess;
}

Return Machine::shutdown() {
  if (users_ == 0) return Return::kUninitialized;
  --users_;
  return Return::kSuccess;
}

Return Machine::ready() {
  const World& now = control_.read();
  if (users_ == 0) return Return::kUninitialized;
  if (!now.loaded) return Return::kDriverNotLoaded;
  if (now.driver_version != version_) return Return::kLibraryMismatch;
  return now.load == load_ ? Return::kSuccess : Return::kUnknown;
}

Device Machine::handle(const std::string& gpu, const std::string& mig) {
  auto& at = handles_[{gpu, mig}];
  if (at == nullptr) at = std::make_unique<Handle>(Handle{.gpu = gpu, .mig = mig});
  return reinterpret_cast<Device>(at.get());
}

Return Machine::resolve(Device device, Target& target) {
  if (const Return code = ready(); code != Return::kSuccess) return code;
  const auto known = std::ranges::find_if(
      handles_, [&](const auto& entry) { return reinterpret_cast<Device>(entry.second.get()) == device; });
  if (known == handles_.end()) return Return::kInvalidArgument;
  const Handle& handle = *known->second;
  const World& now = control_.read();
  const auto gpu = std::ranges::find(now.gpus, handle.gpu, &Gpu::uuid);
  if (gpu == now.gpus.end()) return Return::kGpuIsLost;
  if (gpu->state == State::kLost) return Return::kGpuIsLost;
  if (gpu->state == State::kFailing) return Return::kUnknown;
  if (gpu->state == State::kResetRequired) return Return::kResetRequired;
  target.gpu = &*gpu;
  target.index = static_cast<unsigned int>(gpu - now.gpus.begin());
  if (handle.mig.empty()) return Return::kSuccess;
  const auto mig = std::ranges::find(gpu->mig, handle.mig, &MigInstance::uuid);
  if (mig == gpu->mig.end()) return Return::kNotFound;
  target.mig = &*mig;
  return Return::kSuccess;
}

nvml::EventSet Machine::make_event_set() {
  auto made = std::make_unique<Subscription>();
  // What happened before is no event of this set.
  const auto& xids = control_.read().xids;
  if (!xids.empty()) made->last_sequence = xids.back().sequence;
  auto* const set = reinterpret_cast<nvml::EventSet>(made.get());
  event_sets_[set] = std::move(made);
  return set;
}

Subscription* Machine::subscription(nvml::EventSet set) {
  const auto at = event_sets_.find(set);
  return at != event_sets_.end() ? at->second.get() : nullptr;
}

bool Machine::drop_event_set(nvml::EventSet set) { return event_sets_.erase(set) > 0; }

Machine& machine() {
  static Machine instance;
  return instance;
}

Return put_text(const std::string& text, char* out, unsigned int length) {
  if (out == nullptr) return Return::kInvalidArgument;
  if (text.size() + 1 > length) return Return::kInsufficientSize;
  std::memcpy(out, text.c_str(), text.size() + 1);
  return Return::kSuccess;
}

}  // namespace gpupool::fake_nvml
