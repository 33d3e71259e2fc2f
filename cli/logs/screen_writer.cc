// SPDX-License-Identifier: Apache-2.0
#include "logs/screen_writer.h"

#include <utility>

namespace gpupool::logs {

ScreenWriter::ScreenWriter(std::ostream& out, std::ostream& err, TextStyle style,
                           std::optional<LineFilter> filter, bool notes)
    : out_(out), err_(err), style_(style), filter_(std::move(filter)), notes_(notes) {}

void ScreenWriter::line(std::int64_t rank, const LogLine& line) {
  if (filter_ && !filter_->matches(line.text)) return;
  waiting_ += shown_line(rank, line, style_);
}

void ScreenWriter::note(const std::string& text) {
  if (notes_) problem(text);
}

void ScreenWriter::problem(const std::string& text) {
  flush();
  err_ << shown_note(text, style_) << std::flush;
}

bool ScreenWriter::flush() {
  if (!waiting_.empty()) out_ << std::exchange(waiting_, {}) << std::flush;
  return out_.good();
}

void ScreenWriter::left_out(std::int64_t ranks, std::int64_t limit) {
  problem(std::to_string(ranks) +
          " ranks are left out: --rank chooses others, and --max-streams allows more than " +
          std::to_string(limit) + " at once");
}

void ScreenWriter::without_ranks() {
  style_.ranks = false;
  style_.rank_width = 1;
}

}  // namespace gpupool::logs
