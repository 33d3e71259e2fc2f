// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "inventory/gpu.h"
#include "slices/cut.h"

namespace gpupool::slices {

// 1500 is "1.5".
std::string decimal(settings::Milli value);
// "GPU 3 (GPU-0a1b..., NVIDIA-A100-SXM4-40GB)".
std::string describe(const inventory::Gpu& gpu);
// What its owner should know about a cut; empty if there is nothing.
std::string cut_note(const inventory::Gpu& gpu, const settings::Split& split, const Cut& cut);

}  // namespace gpupool::slices
