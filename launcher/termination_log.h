// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace gpupool::launcher {

// Writes what Kubernetes takes as the container's termination message. The kubelet has made the file; where
// it is missing nobody reads it, and nothing is written. Other failures are logged: the stored result
// remains.
void write_termination_log(const std::string& path, std::string_view json);

}  // namespace gpupool::launcher
