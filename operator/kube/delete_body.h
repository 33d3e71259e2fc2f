#pragma once

#include <string>

#include "kube/client.h"

namespace gpupool::kube {

// meta/v1 DeleteOptions as JSON.
std::string delete_body(const DeleteOptions& options);

}  // namespace gpupool::kube
