// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <ostream>
#include <string>

#include "logs/line_filter.h"
#include "logs/text_style.h"

namespace gpupool::logs {

// Writes lines to the standard output and notes to the standard error output, in the order in which they
// come. One thread.
class ScreenWriter {
 public:
  // notes: false leaves out notes that tell of progress.
  ScreenWriter(std::ostream& out, std::ostream& err, TextStyle style, std::optional<LineFilter> filter,
               bool notes);

  void line(std::int64_t rank, const LogLine& line);
  // What happens to the job.
  void note(const std::string& text);
  // What prevents that all lines are shown.
  void problem(const std::string& text);
  // False if the output cannot be written any more.
  bool flush();

  void set_ranks(bool ranks, int width);

 private:
  std::ostream& out_;
  std::ostream& err_;
  TextStyle style_;
  std::optional<LineFilter> filter_;
  bool notes_;
  std::string waiting_;
};

}  // namespace gpupool::logs
