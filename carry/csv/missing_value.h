// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace gpupool::carry::csv {

// Whether pandas reads this as a missing value: the empty text and 17 words such as NA, NaN and null. Pure.
bool is_missing(std::string_view text);

}  // namespace gpupool::carry::csv
