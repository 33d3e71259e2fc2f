// SPDX-License-Identifier: Apache-2.0
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
  std::optional<std::int64_t> gpu_percent = {};
  std::optional<std::int64_t> memory_used_mib = {};
  std::optional<std::int64_t> memory_free_mib = {};
  std::optional<std::int64_t> temperature_celsius = {};
  std::optional<std::int64_t> power_milliwatts = {};
};

// What a process uses of one GPU, as the driver says.
struct ProcessUse {
  std::int64_t pid = 0;                            // as this program sees it
  std::optional<std::uint64_t> memory_bytes = {};  // absent: the driver does not tell
};

// An error that the driver reported.
struct ErrorEvent {
  std::string gpu;         // UUID; empty: the driver could not say which
  std::uint64_t code = 0;  // the vendor's number for it: see health::ErrorCatalogue
};

// What a GPU answers when it is asked for a sign of life.
struct Probe {
  enum class Result { kAlive, kLost, kFailing };  // kLost: it has fallen off the bus
  Result result = Result::kAlive;
  std::string detail;        // for people, when not alive
  bool needs_reset = false;  // the driver itself says that only a reset or a reboot helps
};

// The GPUs of this node as their driver shows them: the part of a vendor that does I/O (vendor/vendor.h).
//
// Thread-safe. The agent's thread lists, probes and reads usage; one other thread waits for events. A call
// may block for seconds: drivers initialise GPUs, and a driver that hangs blocks for ever.
class GpuSource {
 public:
  virtual ~GpuSource() = default;

  // All GPUs. Opens the driver if it is not open, and again after it was reloaded. An error says why there is
  // none: no library, no driver, or another version in the kernel.
  virtual base::Result<Inventory> list() = 0;
  // kNotFound for a GPU that the last list() did not have. Opens nothing.
  virtual base::Result<Usage> usage(const std::string& uuid) = 0;
  // The processes that use the GPU: those that this program can see, so none in a container with PIDs of its
  // own. kNotFound as for usage(); kInvalid: the driver does not tell. Opens nothing.
  virtual base::Result<std::vector<ProcessUse>> processes(const std::string& uuid) = 0;
  // Whether the GPU works; a GPU that the last list() did not have is lost. Opens nothing.
  virtual Probe probe(const std::string& uuid) = 0;
  // Blocks until there are errors, for at most `limit`, or until stop is requested; without a driver, too.
  // Returns the errors since the last call.
  //
  // REQUIRES: called by one thread at a time.
  virtual std::vector<ErrorEvent> wait_events(base::Duration limit, std::stop_token stop) = 0;
};

}  // namespace gpupool::inventory
