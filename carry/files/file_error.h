// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "failure/failure.h"

namespace gpupool::carry {

// Returns the failure of a call that set errno to `code`: kTooLarge for a full disk or quota, else kLocal.
// what: "cannot write train.csv".
tl::unexpected<Failure> file_failure(const std::string& what, int code);

}  // namespace gpupool::carry
