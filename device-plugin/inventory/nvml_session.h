#pragma once

#include <chrono>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "base/result.h"
#include "inventory/gpu_source.h"
#include "inventory/nvml_library.h"

namespace gpupool::inventory {

// Whether NVML says by this code that the driver it was opened for is no more, so that only opening it anew
// can help.
bool driver_is_gone(nvml::Return code);

// NVML from nvmlInit() to nvmlShutdown(), with the events of its GPUs. Thread-safe; wait() is for one thread.
class NvmlSession {
 public:
  // An error says why there is no driver.
  static base::Result<std::unique_ptr<NvmlSession>> open(const std::string& library);
  ~NvmlSession();
  NvmlSession(const NvmlSession&) = delete;
  NvmlSession& operator=(const NvmlSession&) = delete;

  const NvmlFunctions& nvml() const { return library_->functions(); }
  bool library_replaced() const { return library_->replaced(); }

  // Knows this GPU from now on, and asks for its events if it did not know it before.
  void know(const std::string& uuid, nvml::Device device);
  // Forgets all others: one that comes back is asked for events again.
  void know_only(const std::set<std::string>& uuids);
  // Null for a GPU that is not known.
  nvml::Device device(const std::string& uuid) const;

  struct Waited {
    nvml::Return result = nvml::Return::kTimeout;
    std::vector<XidEvent> events;
  };
  // Blocks for at most `limit`. kNotSupported: this NVML has no events.
  Waited wait(std::chrono::milliseconds limit);

 private:
  explicit NvmlSession(std::unique_ptr<NvmlLibrary> library) : library_(std::move(library)) {}
  void ask_for_events(nvml::Device device);
  std::string uuid_of(nvml::Device device) const;

  std::unique_ptr<NvmlLibrary> library_;
  nvml::EventSet events_ = nullptr;
  mutable std::mutex mutex_;
  std::map<std::string, nvml::Device> known_;
};

}  // namespace gpupool::inventory
