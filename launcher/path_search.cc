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

}  // namespace gpupool::launcher
