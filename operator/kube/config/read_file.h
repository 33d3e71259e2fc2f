#pragma once

#include <string>

#include "base/result.h"

namespace gpupool::kube {

// The whole file. kIo, naming the path and the cause, if it cannot be read or is larger than 16 MiB.
base::Result<std::string> read_file(const std::string& path);

// The value without white space at both ends, as tokens and namespaces are kept in files.
std::string trimmed(const std::string& text);

// path as it is if absolute, else below directory.
std::string resolve_path(const std::string& directory, const std::string& path);

}  // namespace gpupool::kube
