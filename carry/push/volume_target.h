// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

#include "push/result_target.h"

namespace gpupool::carry {

// directory: where the claim is mounted. path: a directory in it, which is made; empty: its root.
Outcome<std::unique_ptr<ResultTarget>> make_volume_target(const std::string& directory,
                                                          const std::string& claim, const std::string& path);

}  // namespace gpupool::carry
