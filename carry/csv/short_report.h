// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>

#include "csv/csv_report.h"

namespace gpupool::carry {

inline constexpr std::size_t kShortReport = 512;  // bytes

// Returns the report for people on one line of at most kShortReport bytes, such as "rows 1000 in, 990 out, 10
// dropped (label missing: 10, lines 3, 17, ...); age: 12 imputed with 31.5, 5 clipped". What does not fit is
// left out as whole parts, and "..." stands for it. Pure.
std::string short_report(const CsvReport& report);

}  // namespace gpupool::carry
