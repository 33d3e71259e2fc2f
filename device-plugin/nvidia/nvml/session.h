// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "base/mutex.h"
#include "base/result.h"
#include "inventory/gpu_source.h"
#include "nvidia/nvml/library.h"

namespace gpupool::nvidia {

// Whether this code means that the driver which the session was opened with is gone, so that only a new
// session can help.
bool driver_is_gone(nvml::Return code);

// NVML between nvmlInit() and nvmlShutdown(), with the event set of its GPUs. Thread-safe; wait() is for one
// thread at a time. NVML itself is thread-safe.
class NvmlSession {
 public:
  // An error says why there is no driver.
  static base::Result<std::unique_ptr<NvmlSession>> open(const std::string& library);
  ~NvmlSession();
  NvmlSession(const NvmlSession&) = delete;
  NvmlSession& operator=(const NvmlSession&) = delete;

  const NvmlFunctions& nvml() const { return library_->functions(); }
  bool library_replaced() const { return library_->replaced(); }

  // Remembers the handle of a GPU, and subscribes to its events if the GPU is new.
  void know(const std::string& uuid, nvml::Device device);
  // Forgets all other GPUs; one that comes back is subscribed to again.
  void know_only(const std::set<std::string>& uuids);
  // Null for a GPU that is not known.
  nvml::Device device(const std::string& uuid) const;

  struct Waited {
    nvml::Return result = nvml::Return::kTimeout;
    std::vector<inventory::ErrorEvent> events;
  };
  // Blocks for at most `limit`. kNotSupported: this NVML has no events.
  Waited wait(std::chrono::milliseconds limit);

 private:
  explicit NvmlSession(std::unique_ptr<NvmlLibrary> library) : library_(std::move(library)) {}
  void ask_for_events(nvml::Device device);
  std::string uuid_of(nvml::Device device) const;

  std::unique_ptr<NvmlLibrary> library_;
  nvml::EventSet events_ = nullptr;
  mutable base::Mutex mutex_;
  std::map<std::string, nvml::Device> known_ GPUPOOL_GUARDED_BY(mutex_);
};

}  // namespace gpupool::nvidia
