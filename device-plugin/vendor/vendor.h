// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "allocation/container_access.h"
#include "health/error_catalogue.h"
#include "inventory/gpu_source.h"
#include "slices/resource_names.h"

namespace gpupool::vendor {

// All that the plugin must know of who made the GPUs. main() makes one; the rest of the plugin gets the parts
// and never asks which vendor it is. A vendor is a folder such as nvidia/ with a function that fills this in.
struct Vendor {
  std::unique_ptr<inventory::GpuSource> source;               // never null
  health::ErrorCatalogue errors;                              // of the events that `source` gives
  std::unique_ptr<const allocation::ContainerAccess> access;  // never null
  slices::ResourceNames names;
};

}  // namespace gpupool::vendor
