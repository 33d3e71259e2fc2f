// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <string_view>

#include "limiter/cuda/types.h"

namespace gpupool::limiter {

struct UuidText {
  char text[64];  // ends with a zero
};

// 8-4-4-4-12 digits, as NVML prints them behind GPU- or MIG-.
UuidText print_uuid(const CUuuid& uuid);

// What the driver says of a device, by its functions of CUDA 11.4 and before.
CUresult read_uuid(CUdevice device, CUuuid& uuid);

// What NVML calls the device at a position of the limits; limits of the environment do not say it, so the
// driver is asked for `device`. False: cannot be had.
bool device_uuid(unsigned position, CUdevice device, UuidText& uuid);

}  // namespace gpupool::limiter
