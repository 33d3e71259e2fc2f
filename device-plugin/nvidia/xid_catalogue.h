// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "health/error_catalogue.h"

namespace gpupool::nvidia {

// NVIDIA's XIDs: what each is and does to a GPU. One that is not in NVIDIA's list makes the GPU unhealthy
// until its probes have been clean for a while.
health::ErrorCatalogue xid_catalogue();

}  // namespace gpupool::nvidia
