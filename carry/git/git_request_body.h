// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace gpupool::carry {

// The body of POST git-upload-pack in protocol 2: one commit without its history, whole objects and deltas of
// this pack alone. Pure.
std::string fetch_body(const std::string& commit);

}  // namespace gpupool::carry
