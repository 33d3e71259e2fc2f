// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "kube/client.h"

namespace gpupool::kube {

// Returns meta/v1 DeleteOptions as JSON.
std::string delete_body(const DeleteOptions& options);

}  // namespace gpupool::kube
