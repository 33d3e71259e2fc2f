// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "allocation/allocate.h"
#include "inventory/gpu.h"
#include "settings/settings.h"

namespace gpupool::kubelet {

// What an answer to the kubelet is made of besides the table.
struct Rules {
  settings::Settings settings;
  allocation::NodePaths paths;
  std::vector<inventory::Gpu> gpus;
};

}  // namespace gpupool::kubelet
