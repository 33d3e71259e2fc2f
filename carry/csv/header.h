// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "csv/row_reader.h"
#include "failure/failure.h"

namespace gpupool::carry::csv {

inline constexpr std::size_t kMaxColumns = 16384;

// Moves `rows` to the first row and returns the names in it. kInvalid: there is no row, more than kMaxColumns
// names, an empty name or two that are equal; `file` is named. REQUIRES: `rows` keeps at least kMaxColumns
// fields.
Outcome<std::vector<std::string>> read_header(RowReader& rows, const std::string& file);

}  // namespace gpupool::carry::csv
