#pragma once

#include <string>
#include <vector>

namespace gpupool::launcher {

// The files to try for `command`, in order: the command itself if it has a slash, else one for each entry of
// `path` (an empty entry is the current directory).
std::vector<std::string> path_candidates(const std::string& command, const std::string& path);

}  // namespace gpupool::launcher
