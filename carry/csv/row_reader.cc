// SPDX-License-Identifier: Apache-2.0
#include "csv/row_reader.h"

#include <algorithm>
#include <bit>

#include "csv/mark_scan.h"

namespace gpupool::carry::csv {

std::string_view Field::undoubled(std::string& scratch) const {
  scratch.clear();
  for (std::size_t i = 0; i < size; ++i) {
    scratch += begin[i];
    if (begin[i] == '"') ++i;
  }
  return scratch;
}

RowReader::RowReader(const SourceFile& source, char delimiter, std::size_t max_fields, bool check_text,
                     const std::stop_token& stop)
    : source_(&source), window_(source, check_text, stop), delimiter_(delimiter), fields_(max_fields) {
  restart(window_.begin());
}

RowStatus RowReader::next() {
  for (;;) {
    switch (scan()) {
      case Step::kRow:
        return RowStatus::kRow;
      case Step::kEnd:
        return RowStatus::kEnd;
      case Step::kFailed:
        return RowStatus::kFailed;
      case Step::kBlank:
        break;
      case Step::kMore:
        if (!read_more()) return RowStatus::kFailed;
        break;
    }
  }
}

bool RowReader::read_more() {
  if (static_cast<std::size_t>(end_ - row_) > ByteWindow::kMaxKept) {
    failure_ = {FailureKind::kInvalid, source_->name() + ": line " + std::to_string(line_) +
                                           ": a row of more than 16 MiB; is a quote not closed?"};
    return false;
  }
  if (auto read = window_.more(row_); !read) {
    failure_ = std::move(read.error());
    return false;
  }
  restart(window_.begin());
  return true;
}

void RowReader::restart(const char* row) {
  row_ = row;
  end_ = window_.end();
  chunk_ = row;
  marks_ = row == end_ ? 0 : scan_marks(row, delimiter_);
}

// Returns the end of the bytes if no mark is left.
inline const char* RowReader::next_mark() {
  while (marks_ == 0) {
    chunk_ += 64;
    if (chunk_ >= end_) {
      chunk_ = end_;
      return end_;
    }
    marks_ = scan_marks(chunk_, delimiter_);
  }
  const char* const at = chunk_ + std::countr_zero(marks_);
  marks_ &= marks_ - 1;
  return at;
}

inline void RowReader::keep_field(const char* begin, const char* end) {
  if (count_ < fields_.size()) {
    if (quoted_ == nullptr) {
      fields_[count_] = {begin, static_cast<std::uint32_t>(end - begin), false};
    } else {
      fields_[count_] = {quoted_, static_cast<std::uint32_t>(quoted_end_ - quoted_), doubled_};
      quoted_ = nullptr;
    }
  }
  ++count_;
}

RowReader::Step RowReader::scan() {
  line_ = next_line_;
  count_ = 0;
  plain_ = true;
  malformed_ = false;
  quoted_ = nullptr;
  for (const char* field = row_;;) {
    const char* const at = next_mark();
    if (at == end_) return at_bytes_end(field);
    if (*at == delimiter_) {
      if (quoted_ != nullptr && at != quoted_end_ + 1) malformed_ = true;
      keep_field(field, at);
      field = at + 1;
    } else if (*at != '"') {
      return end_row(field, at);
    } else {
      plain_ = false;
      if (at != field) continue;
      if (const auto step = scan_quoted(at); step != Step::kRow) {
        next_line_ = line_;
        return step;
      }
    }
  }
}

// Moves to the closing quote of the field that begins with `quote`. Returns kRow if there is one.
RowReader::Step RowReader::scan_quoted(const char* quote) {
  const std::int64_t opened = next_line_;
  quoted_ = quote + 1;
  doubled_ = false;
  for (;;) {
    const char* const at = next_mark();
    // A mark whose next byte is not there yet is misread, and read again with the row.
    if (at == end_ && !window_.at_end()) return Step::kMore;
    if (at == end_) {
      failure_ = {FailureKind::kInvalid, source_->name() + ": the quote that line " + std::to_string(opened) +
                                             " opens is never closed"};
      return Step::kFailed;
    }
    if (*at == '"') {
      if (at[1] != '"') {
        quoted_end_ = at;
        return Step::kRow;
      }
      doubled_ = true;
      next_mark();
    } else if (*at == '\n' || (*at == '\r' && at[1] != '\n')) {
      ++next_line_;
    }
  }
}

RowReader::Step RowReader::at_bytes_end(const char* field) {
  if (!window_.at_end()) {
    next_line_ = line_;
    return Step::kMore;
  }
  return row_ == end_ ? Step::kEnd : end_row(field, end_);
}

RowReader::Step RowReader::end_row(const char* field, const char* at) {
  const char* next = at == end_ ? at : at + 1;
  if (at != end_ && *at == '\r') {
    if (next == end_ && !window_.at_end()) {
      next_line_ = line_;
      return Step::kMore;
    }
    if (next != end_ && *next == '\n') {
      next_mark();
      ++next;
    }
  }
  if (quoted_ != nullptr && at != quoted_end_ + 1) malformed_ = true;
  keep_field(field, at);
  raw_ = {row_, static_cast<std::size_t>(at - row_)};
  row_ = next;
  ++next_line_;
  return count_ == 1 && plain_ && is_blank() ? Step::kBlank : Step::kRow;
}

bool RowReader::is_blank() const {
  return std::all_of(raw_.begin(), raw_.end(), [](char c) { return c == ' ' || c == '\t'; });
}

}  // namespace gpupool::carry::csv
