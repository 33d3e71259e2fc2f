// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "launcher/metrics.h"

namespace gpupool::launcher {

// Reads the numbers of one line, without its end, into `metrics`, which gets end_line() too.
//
// Of a line that is one JSON object, the keys with numbers count, also numbers in texts; keys of an object in
// it are joined with dots ("val.loss"). Of any other line, what has this form counts:
//
//   name  [ ]* (= | :) [ ]*  number [%]
//
// name: letters, digits and _ . / -, beginning with a letter or _; whole, and possibly in quotes, as Python
// prints a dict. number: as std::from_chars reads it, also with a leading +, also nan and inf; no letter,
// digit, _ or further .digit follows. % divides by 100. Terminal sequences are ignored.
void scan_line(std::string_view line, Metrics& metrics);

// The same for a line that must be a JSON object; any other is ignored.
void scan_json_line(std::string_view line, Metrics& metrics);

}  // namespace gpupool::launcher
