// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

#include "limiter/region/ledger.h"

namespace gpupool::test {

// A process that uses a container's region as the limiter does: record locks tell processes apart, so a test
// cannot do it itself. It lives until the object ends.
class RegionProcess {
 public:
  struct Plan {
    std::vector<std::uint64_t> limits;      // bytes by device; at least one
    std::uint64_t memory = 0;               // committed bytes of device 0
    std::uint64_t pending = 0;              // reserved bytes of device 0
    std::uint64_t waits_for = 0;            // 0: it does not wait
    std::vector<std::string> unknown = {};  // names that it asks for
    std::uint64_t refused_bytes = 0;        // of a reservation that is too much
  };
  // Returns when the process has done all of it.
  RegionProcess(const std::string& region, const Plan& plan);
  ~RegionProcess();
  RegionProcess(const RegionProcess&) = delete;
  RegionProcess& operator=(const RegionProcess&) = delete;

  bool ready() const { return ready_; }
  void kill();
  // Whether its wait was refused.
  bool wait_refused();

 private:
  pid_t pid_ = -1;
  int ask_ = -1;
  int answer_ = -1;
  bool ready_ = false;
};

}  // namespace gpupool::test
