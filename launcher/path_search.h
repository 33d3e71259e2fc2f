// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace gpupool::launcher {

// The files to try for `command`, in order: the command itself if it has a slash, else one for each entry of
// `path` (an empty entry is the current directory).
std::vector<std::string> path_candidates(const std::string& command, const std::string& path);

// PATH in `environment` ("NAME=value" each); without one, the folders that shells use. Points into
// `environment`.
std::string_view search_path(const std::vector<std::string>& environment);

}  // namespace gpupool::launcher
