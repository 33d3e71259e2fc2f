// SPDX-License-Identifier: Apache-2.0
// Parts of the forms of a statement. Pure.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>

#include "reports/statement.h"

namespace gpupool::ledger {

// RFC 3339, of Unix seconds.
std::string time_text(std::int64_t moment);

// What was held, in thousandths of GPU-seconds, rounded down.
std::int64_t milli_gpu_seconds(const StatementLine& line);

// GPU-hours to the millionth, of thousandths of GPU-seconds.
std::string hours_text(std::int64_t milli_gpu_seconds);

// One row with its end, RFC 4180.
std::string csv_row(std::initializer_list<std::string> fields);

}  // namespace gpupool::ledger
