// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "checks/finding.h"

namespace gpupool::checks {

struct PortFacts {
  std::uint16_t port = 0;
  bool taken = false;
  std::string process;  // that listens; empty: cannot be seen
  int status = 0;       // of GET /healthz in plain HTTP; 0: no HTTP answer
};

// The ports that a node's components listen on, in the order in which they are told of.
std::vector<std::uint16_t> node_ports();

// Empty: what listens cannot be seen.
Finding judge_ports(const std::vector<PortFacts>& facts);

}  // namespace gpupool::checks
