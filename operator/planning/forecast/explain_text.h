// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "api/v1alpha1/explanation.h"

namespace gpupool::planning {

// Returns the lines about `wants`, `pool`, `ahead`, `start` and `sooner`, as far as they are there.
std::string lines_of(const api::Explanation& explanation);

// Returns the first `most` bytes, without a part of a character.
std::string cut_to(std::string_view text, std::size_t most);
// The same, with "..." at the end if something is missing.
std::string shortened(std::string_view text, std::size_t most);

// "45s", "12m", "3h 5m", "2d 4h".
std::string duration_text(base::Duration duration);

}  // namespace gpupool::planning
