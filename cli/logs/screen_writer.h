// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <ostream>
#include <string>

#include "logs/line_filter.h"
#include "logs/text_style.h"
#include "worker_logs/log_output.h"

namespace gpupool::logs {

// Writes lines to the standard output and notes to the standard error output, in the order in which they
// come. One thread.
class ScreenWriter final : public LogOutput {
 public:
  // notes: false leaves out notes that tell of progress.
  ScreenWriter(std::ostream& out, std::ostream& err, TextStyle style, std::optional<LineFilter> filter,
               bool notes);

  void line(std::int64_t rank, const LogLine& line) override;
  void note(const std::string& text) override;
  void problem(const std::string& text) override;
  void left_out(std::int64_t ranks, std::int64_t limit) override;
  void without_ranks() override;
  bool flush() override;

 private:
  std::ostream& out_;
  std::ostream& err_;
  TextStyle style_;
  std::optional<LineFilter> filter_;
  bool notes_;
  std::string waiting_;
};

}  // namespace gpupool::logs
