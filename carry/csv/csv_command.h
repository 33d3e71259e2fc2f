// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <stop_token>
#include <string>

namespace gpupool::carry {

// The subcommand `csv`: --spec=JSON (an api::CsvIngestion), --root=DIR and --to=PATH, all wanted. Prints the
// short report, or to stderr what is wrong. Returns the exit status: 0, 1 for a failure, 2 for wrong
// arguments.
int csv_command(std::span<const std::string> arguments, const std::stop_token& stop);

}  // namespace gpupool::carry
