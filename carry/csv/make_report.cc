// SPDX-License-Identifier: Apache-2.0
#include "csv/make_report.h"

#include <algorithm>
#include <utility>

namespace gpupool::carry::csv {
namespace {

CsvNumbers numbers_of(const RunningSum& sum) {
  if (sum.count() == 0) return {};
  return {sum.count(), sum.min(), sum.max(), sum.mean()};
}

// Without clipping, what was imputed is all that was added.
CsvNumbers numbers_after(const CsvNumbers& before, double sum, const ColumnDecision& decision,
                         std::int64_t imputed) {
  if (imputed == 0) return before;
  const double fill = decision.fill_number;
  if (before.count == 0) return {imputed, fill, fill, fill};
  CsvNumbers after = before;
  after.count += imputed;
  after.min = std::min(before.min, fill);
  after.max = std::max(before.max, fill);
  after.mean = (sum + static_cast<double>(imputed) * fill) / static_cast<double>(after.count);
  return after;
}

bool is_integer(const std::string& text) {
  double number = 0;
  return parse_number(text, number) == NumberKind::kInteger;
}

ColumnType written_type(const ColumnDecision& decision, const ColumnChanges& changes) {
  const bool stays = (changes.imputed == 0 || is_integer(decision.fill)) &&
                     (changes.clipped_low == 0 || is_integer(decision.lower_text)) &&
                     (changes.clipped_high == 0 || is_integer(decision.upper_text));
  return decision.type == ColumnType::kInteger && !stays ? ColumnType::kNumber : decision.type;
}

CsvColumnReport column_report(const ColumnRules& rules, const ColumnFacts& facts,
                              const ColumnDecision& decision, const ColumnChanges& changes) {
  CsvColumnReport report;
  report.name = rules.name;
  report.type = type_word(written_type(decision, changes));
  report.rule = rule_word(rules.missing);
  report.missing = facts.missing;
  report.imputed = changes.imputed;
  if (changes.imputed > 0) report.value = decision.imputed;
  if (decision.has_lower) report.lower = decision.lower_text;
  if (decision.has_upper) report.upper = decision.upper_text;
  report.clipped_low = changes.clipped_low;
  report.clipped_high = changes.clipped_high;
  report.note = decision.note;
  if (decision.type == ColumnType::kText) return report;
  report.before = numbers_of(facts.sum);
  report.after = decision.clips ? numbers_of(changes.sum)
                                : numbers_after(report.before, facts.sum.sum(), decision, changes.imputed);
  return report;
}

}  // namespace

CsvReport make_report(const Rules& rules, const Survey& survey, const std::vector<ColumnDecision>& decisions,
                      const Rewriter& rewriter) {
  CsvReport report;
  report.rows_in = survey.rows();
  report.rows_out = rewriter.rows();
  survey.drops().report(report);
  report.columns.reserve(decisions.size());
  for (std::size_t i = 0; i < decisions.size(); ++i)
    report.columns.push_back(
        column_report(rules.columns[i], survey.facts(i), decisions[i], rewriter.changes(i)));
  return report;
}

}  // namespace gpupool::carry::csv
