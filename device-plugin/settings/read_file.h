#pragma once

#include <string>

#include "base/result.h"

namespace gpupool::settings {

// A whole file of at most 1 MiB. kIo, with the path.
base::Result<std::string> read_file(const std::string& path);

}  // namespace gpupool::settings
