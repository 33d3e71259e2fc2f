// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace gpupool::inventory {

// A product name as the value of a label: spaces and whatever Kubernetes does not allow there become "-". At
// most 63 characters. Pure.
std::string model_label(const std::string& product);

}  // namespace gpupool::inventory
