// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "inventory/gpu.h"
#include "settings/settings.h"

namespace gpupool::slices {

// Whether an override is for this GPU of this node.
bool matches(const settings::Match& match, const std::string& node, const inventory::Gpu& gpu);

}  // namespace gpupool::slices
