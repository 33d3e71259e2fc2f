// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "store/attempts.h"

namespace gpupool::keeper {

// {"attempts":
// [{"job","uid","lease","attempt","pool","ranks","begin","end","outcome","exitCode","bytes","lost"}]}: times
// are RFC 3339. end, outcome and exitCode are left out while an attempt runs. outcome is that of the first
// rank that did not end well, else "exited"; "silent" if ranks are missing and nothing came for long. Pure.
std::string attempts_json(const std::vector<AttemptInfo>& attempts, const Limits& limits, base::WallTime now);

}  // namespace gpupool::keeper
