#pragma once

#include <cstdint>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "inventory/gpu.h"

namespace gpupool::inventory {

// Readings of one moment; what a GPU does not offer is absent.
struct Usage {
  std::optional<std::int64_t> gpu_percent;
  std::optional<std::int64_t> memory_used_mib;
  std::optional<std::int64_t> temperature_celsius;
  std::optional<std::int64_t> power_milliwatts;
};

// A critical event that the driver tells of.
struct XidEvent {
  std::string gpu;  // UUID; empty: the driver could not say which
  std::uint64_t xid = 0;
};

// What a GPU answers when it is asked for a sign of life.
struct Probe {
  enum class Result { kAlive, kLost, kFailing };  // kLost: NVML says that it has fallen off the bus
  Result result = Result::kAlive;
  std::string detail;        // for people, when not alive
  bool needs_reset = false;  // the driver itself says that only a reset or a reboot helps
};

// The GPUs of this node. Thread-safe; wait_events() is for one thread.
class GpuSource {
 public:
  virtual ~GpuSource() = default;

  // Opens the driver if it is not open; after a driver was reloaded, opens it anew. An error says why there
  // is none: no library, no driver, another version in the kernel.
  virtual base::Result<Inventory> list() = 0;
  virtual base::Result<Usage> usage(const std::string& uuid) = 0;
  virtual Probe probe(const std::string& uuid) = 0;
  // The events since the last call, as soon as there is one; empty after `limit` or when stop is requested.
  // Without a driver it waits just as long.
  virtual std::vector<XidEvent> wait_events(base::Duration limit, std::stop_token stop) = 0;
};

}  // namespace gpupool::inventory
