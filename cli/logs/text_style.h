// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "worker_logs/log_line.h"

namespace gpupool::logs {

struct TextStyle {
  bool ranks = false;       // "3 | " before each line
  int rank_width = 1;       // digits of the highest rank
  bool timestamps = false;  // the time before each line
  bool colours = false;     // of prefixes, and those that the worker printed
  bool raw = false;         // lines as they were printed, with nothing added or dropped
};

// What is shown of a line, with its '\n'. If not raw: terminal escape sequences are dropped (colours only if
// style.colours is false), control characters too, and each byte that is not valid UTF-8 becomes U+FFFD. A
// cut line ends with "...[n bytes]".
std::string shown_line(std::int64_t rank, const LogLine& line, const TextStyle& style);

// What gpupool itself has to say, with its '\n'; any text of others in it is cleaned.
std::string shown_note(const std::string& text, const TextStyle& style);

}  // namespace gpupool::logs
