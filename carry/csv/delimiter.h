// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <stop_token>

#include "csv/source_file.h"
#include "failure/failure.h"

namespace gpupool::carry::csv {

// Finds which of , ; tab | parts the fields: the one that parts the header and with which most of the first
// 50 rows have as many fields as the header; of several, the one with the most fields, then in this order. A
// comma if none parts the header. Errors of reading alone.
Outcome<char> find_delimiter(const SourceFile& source, const std::stop_token& stop);

}  // namespace gpupool::carry::csv
