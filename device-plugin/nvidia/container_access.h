// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "allocation/container_access.h"

namespace gpupool::nvidia {

// What NVIDIA's container toolkit and HAMi-core's limiter read in a container.
std::unique_ptr<const allocation::ContainerAccess> make_container_access();

}  // namespace gpupool::nvidia
