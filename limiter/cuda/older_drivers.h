// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "limiter/proxy/driver.h"

namespace gpupool::limiter {

// Whether the driver has the older form of a function and not the newer one.
bool only_older(Fn newer, Fn older);

}  // namespace gpupool::limiter
