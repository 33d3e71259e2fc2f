// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <istream>
#include <string>

#include "base/result.h"

namespace gpupool::submit {

// The GpuJob in a file of YAML or JSON, as JSON. path "-": from `in`. kInvalidArgument if there is anything
// but one GpuJob.
base::Result<std::string> read_manifest(const std::string& path, std::istream& in);

}  // namespace gpupool::submit
