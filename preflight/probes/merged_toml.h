// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "base/result.h"
#include "probes/host_root.h"

namespace gpupool::probes {

// What is in the files, as JSON: later ones win, tables are merged. Files that are not there are left out; an
// error names the file.
base::Result<void> merge_toml(const HostRoot& root, const std::string& path, nlohmann::json& into);

// The files that a pattern with * and ? in its last part names, sorted. Relative ones are below `directory`.
std::vector<std::string> matching_files(const HostRoot& root, const std::string& directory,
                                        const std::string& pattern);

}  // namespace gpupool::probes
