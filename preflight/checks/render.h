// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "checks/finding.h"

namespace gpupool::checks {

// For people: a line for each finding, and under it a line for each step of its remedy.
std::string as_text(const std::vector<Finding>& findings);

// For programs: {"verdict": the worst, "checks": [{"name", "verdict", "found", "remedy"}]}, with a new line
// at the end. Verdicts are "ok", "warn" and "fail".
std::string as_json(const std::vector<Finding>& findings);

Verdict worst(const std::vector<Finding>& findings);

}  // namespace gpupool::checks
