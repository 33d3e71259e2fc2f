// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

namespace gpupool::launcher {

// What the command has written into its report file. All empty: there is no such file.
struct Report {
  std::optional<std::string> text;  // as clean_text() leaves it, without newlines at its end
  std::string written_at;           // RFC 3339; empty: the file has no sensible time
  std::string error;                // why it cannot be used, as in "it is a link"; without the "it"

  bool operator==(const Report&) const = default;
};

// Reads it. The command may have put anything there: only a regular file of at most kMaxReportBytes
// (api/worker_result_format.h) is taken, and nothing can make this wait.
Report read_report(const std::string& path);

}  // namespace gpupool::launcher
