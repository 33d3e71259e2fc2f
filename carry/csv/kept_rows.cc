// SPDX-License-Identifier: Apache-2.0
#include "csv/kept_rows.h"

#include <algorithm>

namespace gpupool::carry::csv {
namespace {

constexpr std::size_t kFirstRows = 10;
constexpr std::size_t kLinesPerReason = 5;

}  // namespace

std::string Drops::text(DropKind kind, std::size_t column) const {
  switch (kind) {
    case DropKind::kMissing:
      return rules_->columns[column].name + " missing";
    case DropKind::kType:
      return rules_->columns[column].name + " not of type " + type_word(rules_->columns[column].type);
    case DropKind::kTooFew:
      return "too few fields";
    case DropKind::kTooMany:
      return "too many fields";
    case DropKind::kMalformed:
      break;
  }
  return "text after a closing quote";
}

void Drops::add(DropKind kind, std::size_t column, std::int64_t line) {
  ++rows_;
  auto& reason = reasons_[{kind, column}];
  if (++reason.rows == 1) reason.text = text(kind, column);
  if (reason.lines.size() < kLinesPerReason) reason.lines.push_back(line);
  if (first_.size() < kFirstRows) first_.push_back({line, reason.text});
}

void Drops::report(CsvReport& report) const {
  report.rows_dropped = rows_;
  report.first_dropped = first_;
  report.reasons.reserve(reasons_.size());
  for (const auto& [key, reason] : reasons_) report.reasons.push_back(reason);
  std::stable_sort(report.reasons.begin(), report.reasons.end(),
                   [](const CsvDropReason& a, const CsvDropReason& b) { return a.rows > b.rows; });
}

KeptRows::KeptRows(const Rules& rules, const Drops& drops) : rules_(&rules) {
  judges_.reserve(rules.columns.size());
  for (std::size_t i = 0; i < rules.columns.size(); ++i)
    if (drops.any_in(i)) judges_.push_back(i);
}

bool KeptRows::contains(const RowReader& row) {
  if (shape_problem(row, rules_->columns.size())) return false;
  const auto fields = row.fields();
  return std::none_of(judges_.begin(), judges_.end(), [&](std::size_t column) {
    return rules_->columns[column].rejects(read_cell(fields[column].text(scratch_)).kind);
  });
}

}  // namespace gpupool::carry::csv
