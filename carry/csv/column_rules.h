// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/v1alpha1/job_data.h"
#include "csv/cell.h"
#include "failure/failure.h"

namespace gpupool::carry::csv {

enum class ColumnType : std::uint8_t { kFound, kInteger, kNumber, kText };  // kFound: not declared
enum class MissingRule : std::uint8_t { kKeep, kDrop, kMean, kMedian, kMode, kConstant };

// One side of a column's range: a number, a quantile, or neither.
struct Bound {
  std::optional<double> number;
  std::optional<double> quantile;
  std::string text;  // of the number, as it is written
  bool empty() const { return !number && !quantile; }
};

struct Bounds {
  Bound lower;
  Bound upper;
  bool empty() const { return lower.empty() && upper.empty(); }
};

// What the spec says of one column.
struct ColumnRules {
  std::string name;
  ColumnType type = ColumnType::kFound;
  MissingRule missing = MissingRule::kKeep;
  bool missing_by_name = false;  // and not by `default`
  std::string constant;
  bool clip_by_name = false;
  const Bounds* clip = nullptr;  // null: none

  bool wants_median() const { return missing == MissingRule::kMedian; }
  bool wants_quantiles() const { return clip != nullptr && (clip->lower.quantile || clip->upper.quantile); }
  // Whether a row with this cell is dropped.
  bool rejects(CellKind kind) const {
    if (kind == CellKind::kMissing) return missing == MissingRule::kDrop;
    return (type == ColumnType::kInteger && kind != CellKind::kInteger) ||
           (type == ColumnType::kNumber && kind == CellKind::kText);
  }
  bool can_reject() const {
    return missing == MissingRule::kDrop || type == ColumnType::kInteger || type == ColumnType::kNumber;
  }
};

// All columns of a file. Columns point into it, so it is never copied.
struct Rules {
  std::vector<ColumnRules> columns;
  std::map<std::string, Bounds> bounds;  // of clip.columns
  Bounds default_bounds;

  Rules() = default;
  Rules(const Rules&) = delete;
  Rules& operator=(const Rules&) = delete;
};

// Words of the spec; nullopt for others. delimiter_of() takes "tab" for a tab too. Pure.
std::optional<MissingRule> missing_rule(std::string_view word);
std::optional<ColumnType> declared_type(std::string_view word);
std::optional<char> delimiter_of(std::string_view text);
std::optional<double> finite_number(std::string_view text);

// REQUIRES: not kFound, not kConstant.
const char* type_word(ColumnType type);
const char* rule_word(MissingRule rule);  // also of kConstant

// Fills `rules` for the columns of `header`. kInvalid: the spec names a column that is not there; the message
// has the names of those that are, as many as fit. REQUIRES: check_csv() found nothing wrong, and the names
// of the header differ.
Outcome<void> make_rules(const api::CsvIngestion& spec, const std::vector<std::string>& header, Rules& rules);

}  // namespace gpupool::carry::csv
