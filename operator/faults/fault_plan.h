#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>

#include "faults/fault_config.h"
#include "net/transport.h"

namespace gpupool::faults {

// What happens to a call, as a pure function of the seed, what is called and how often it was before: the
// same seed does the same to each object, in whatever order threads come. Thread-safe.
class FaultPlan {
 public:
  struct Decision {
    Fault fault;
    std::uint64_t random;  // for what the fault leaves open: where to cut, how long to wait
  };

  explicit FaultPlan(FaultConfig config) : config_(std::move(config)) {}

  // place: one bit. key: what is called, without what differs from run to run.
  std::optional<Decision> decide(Places place, const std::string& key);

 private:
  FaultConfig config_;
  std::mutex mutex_;
  std::map<std::string, std::uint64_t> calls_;
};

// Where a request belongs; kGet for everything that is no resource.
Places place_of(const net::HttpRequest& request);
// Method and path, without the query.
std::string key_of(const net::HttpRequest& request);

}  // namespace gpupool::faults
