// SPDX-License-Identifier: Apache-2.0
// Parts of the forms of a statement. Pure.
#pragma once

#include <cstddef>
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

// The same to the thousandth.
std::string short_hours(std::int64_t milli_gpu_seconds);

// With spaces after it, or before it, up to this width.
std::string padded(std::string text, std::size_t width);
std::string right(const std::string& text, std::size_t width);

// One row with its end, RFC 4180.
std::string csv_row(std::initializer_list<std::string> fields);

}  // namespace gpupool::ledger
