// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "base/mutex.h"
#include "faults/fault_config.h"
#include "net/transport.h"

namespace gpupool::faults {

// Decides which fault a call gets: a pure function of the seed, of what is called, and of how often it was
// called. The same seed gives each object the same faults, whatever the order of threads. Thread-safe.
class FaultPlan {
 public:
  struct Decision {
    Fault fault;
    std::uint64_t random;  // for details of the fault: where to cut, how long to wait
  };

  explicit FaultPlan(FaultConfig config) : config_(std::move(config)) {}

  // place: one bit. key: what is called, without parts that differ between runs.
  std::optional<Decision> decide(Places place, const std::string& key);

 private:
  FaultConfig config_;
  base::Mutex mutex_;
  std::map<std::string, std::uint64_t> calls_ GPUPOOL_GUARDED_BY(mutex_);
};

// Returns the place of a request; kGet for all paths that are no resource.
Places place_of(const net::HttpRequest& request);
// Returns method and path, without the query.
std::string key_of(const net::HttpRequest& request);

}  // namespace gpupool::faults
