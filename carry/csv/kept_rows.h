// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "csv/column_rules.h"
#include "csv/csv_report.h"
#include "csv/row_reader.h"

namespace gpupool::carry::csv {

enum class DropKind : std::uint8_t { kMissing, kType, kTooFew, kTooMany, kMalformed };

// Counts the rows that are dropped. Not thread-safe.
class Drops {
 public:
  explicit Drops(const Rules& rules) : rules_(&rules) {}
  // column: of kMissing and kType; else 0.
  void add(DropKind kind, std::size_t column, std::int64_t line);
  std::int64_t rows() const { return rows_; }
  bool any_in(std::size_t column) const {
    return reasons_.contains({DropKind::kMissing, column}) || reasons_.contains({DropKind::kType, column});
  }
  void report(CsvReport& report) const;

 private:
  std::string text(DropKind kind, std::size_t column) const;

  const Rules* rules_;
  std::map<std::pair<DropKind, std::size_t>, CsvDropReason> reasons_;
  std::vector<CsvDroppedRow> first_;
  std::int64_t rows_ = 0;
};

// What is wrong with a row whatever its values are. Pure.
inline std::optional<DropKind> shape_problem(const RowReader& row, std::size_t columns) {
  if (row.malformed()) return DropKind::kMalformed;
  if (row.field_count() == columns) return std::nullopt;
  return row.field_count() < columns ? DropKind::kTooFew : DropKind::kTooMany;
}

// Tells, when the file is read again, which rows were kept. Not thread-safe.
class KeptRows {
 public:
  KeptRows(const Rules& rules, const Drops& drops);
  bool contains(const RowReader& row);

 private:
  const Rules* rules_;
  std::vector<std::size_t> judges_;  // the columns for whose sake rows were dropped
  std::string scratch_;
};

}  // namespace gpupool::carry::csv
