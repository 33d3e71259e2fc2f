// SPDX-License-Identifier: Apache-2.0
#include "launcher/path_search.h"

namespace gpupool::launcher {

std::vector<std::string> path_candidates(const std::string& command, const std::string& path) {
  if (command.empty() || command.find('/') != std::string::npos) return {command};
  std::vector<std::string> candidates;
  std::size_t from = 0;
  for (;;) {
    const std::size_t colon = path.find(':', from);
    std::string candidate = path.substr(from, colon == std::string::npos ? colon : colon - from);
    if (!candidate.empty()) candidate += '/';
    candidate += command;
    candidates.push_back(std::move(candidate));
    if (colon == std::string::npos) return candidates;
    from = colon + 1;
  }
}

std::string_view search_path(const std::vector<std::string>& environment) {
  constexpr std::string_view kName = "PATH=";
  for (const std::string& variable : environment) {
    if (variable.starts_with(kName)) return std::string_view(variable).substr(kName.size());
  }
  return "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";
}

}  // namespace gpupool::launcher
