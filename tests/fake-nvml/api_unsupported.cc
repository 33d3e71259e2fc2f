// SPDX-License-Identifier: Apache-2.0
#include "nvidia/nvml/api.h"

// All other functions of NVML: there for programs that look them up when they start, and of no use. The
// arguments do not matter, since none is touched.
#define GPUPOOL_UNSUPPORTED(name) \
  extern "C" gpupool::nvidia::nvml::Return name() { return gpupool::nvidia::nvml::Return::kNotSupported; }

#include "tests/fake-nvml/unsupported.inc"
