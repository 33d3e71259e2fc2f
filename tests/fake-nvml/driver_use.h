// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "tests/fake-nvml/machine.h"

namespace gpupool::fake_nvml {

// Bytes of a GPU or MIG device that are used: what the control file says, and what processes hold by the fake
// CUDA driver.
std::uint64_t used_bytes(const Target& target);

struct UsingProcess {
  unsigned int pid = 0;
  std::uint64_t bytes = 0;
  unsigned int utilization = 0;
};
// The processes on it, of both. Those of the driver that this PID namespace does not see are left out, as
// NVML has it.
std::vector<UsingProcess> using_processes(const Target& target);

}  // namespace gpupool::fake_nvml
