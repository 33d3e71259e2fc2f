// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "csv/decisions.h"
#include "csv/kept_rows.h"
#include "csv/row_reader.h"
#include "csv/running_sum.h"
#include "files/output_file.h"

namespace gpupool::carry::csv {

// What was changed in one column.
struct ColumnChanges {
  std::int64_t imputed = 0;
  std::int64_t clipped_low = 0;
  std::int64_t clipped_high = 0;
  RunningSum sum;  // of all values as written, of a column with ColumnDecision::clips
};

// The last reading: writes the rows that are kept, with LF, and with quotes only where they are needed.
// Values that are not changed have the bytes they had. Not thread-safe.
class Rewriter {
 public:
  // All must outlive the rewriter.
  Rewriter(const Rules& rules, const std::vector<ColumnDecision>& decisions, KeptRows& kept, char delimiter,
           OutputFile& to);

  Outcome<void> write_header();
  Outcome<void> add(const RowReader& row);
  Outcome<void> finish();  // writes what is left

  std::int64_t rows() const { return rows_; }
  const ColumnChanges& changes(std::size_t column) const { return changes_[column]; }

 private:
  struct Replacement {
    std::size_t column;
    const std::string* text;
  };
  struct Texts {  // with quotes if they need some
    std::string fill;
    std::string lower;
    std::string upper;
  };

  void find_replacements(const RowReader& row);
  void append_plain(const RowReader& row);
  void append_parsed(const RowReader& row);
  void append(std::string_view text);
  void flush();
  std::string with_quotes(std::string_view text) const;
  bool needs_quotes(std::string_view text) const;

  const Rules* rules_;
  const std::vector<ColumnDecision>* decisions_;
  KeptRows* kept_;
  char delimiter_;
  OutputFile* to_;
  std::vector<std::size_t> busy_;  // columns in which something is changed, ascending
  std::vector<Texts> texts_;       // of those
  std::vector<ColumnChanges> changes_;
  std::vector<Replacement> replacements_;  // of the row, ascending
  std::string out_;
  Outcome<void> written_;
  std::string scratch_;
  std::int64_t rows_ = 0;
};

}  // namespace gpupool::carry::csv
