// SPDX-License-Identifier: Apache-2.0
#include "checks/finding.h"

#include <algorithm>

#include "base/join.h"

namespace gpupool::checks {

Finding Judgement::finding() const {
  if (failures_.empty() && warnings_.empty()) return {name_, Verdict::kOk, base::join(notes_, ", "), ""};
  std::vector<std::string> found;
  std::vector<std::string> remedies;
  for (const auto* problems : {&failures_, &warnings_}) {
    for (const Problem& problem : *problems) {
      found.push_back(problem.found);
      if (std::ranges::find(remedies, problem.remedy) == remedies.end()) remedies.push_back(problem.remedy);
    }
  }
  return {name_, failures_.empty() ? Verdict::kWarn : Verdict::kFail, base::join(found, "; "),
          base::join(remedies, "\n")};
}

std::string counted(std::size_t count, const std::string& what) {
  return std::to_string(count) + " " + what + (count == 1 ? "" : "s");
}

}  // namespace gpupool::checks
