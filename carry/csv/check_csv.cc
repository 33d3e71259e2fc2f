// SPDX-License-Identifier: Apache-2.0
#include "csv/check_csv.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <string>
#include <string_view>

#include "csv/column_rules.h"
#include "csv/number_text.h"
#include "csv/text_check.h"
#include "files/relative_path.h"

namespace gpupool::carry {
namespace {

using Problem = std::optional<std::string>;

Problem quantile_problem(const std::string& where, const std::string& text) {
  const auto value = csv::finite_number(text);
  if (text.empty() || (value && *value >= 0 && *value <= 1)) return std::nullopt;
  return where + ": " + text + " is no number from 0 to 1";
}

Problem bound_problem(const std::string& where, const std::string& text) {
  if (text.empty() || csv::finite_number(text)) return std::nullopt;
  return where + ": " + text + " is no number";
}

Problem bounds_problem(const std::string& where, const api::CsvBounds& bounds) {
  for (auto problem : {bound_problem(where + ".min", bounds.min), bound_problem(where + ".max", bounds.max),
                       quantile_problem(where + ".lowerQuantile", bounds.lower_quantile),
                       quantile_problem(where + ".upperQuantile", bounds.upper_quantile)})
    if (problem) return problem;
  if (!bounds.min.empty() && !bounds.lower_quantile.empty())
    return where + ": min and lowerQuantile are both set; name one of them";
  if (!bounds.max.empty() && !bounds.upper_quantile.empty())
    return where + ": max and upperQuantile are both set; name one of them";
  const auto crossed = [](const std::string& low, const std::string& high) {
    return !low.empty() && !high.empty() && *csv::finite_number(low) > *csv::finite_number(high);
  };
  if (crossed(bounds.min, bounds.max)) return where + ": min is larger than max";
  if (crossed(bounds.lower_quantile, bounds.upper_quantile))
    return where + ": lowerQuantile is larger than upperQuantile";
  return std::nullopt;
}

Problem rule_problem(const std::string& where, const std::string& rule) {
  if (csv::missing_rule(rule)) return std::nullopt;
  return where + ": " + rule + " is none of Keep, Drop, Mean, Median and Mode";
}

Problem missing_problem(const api::CsvMissing& missing) {
  if (!missing.default_rule.empty())
    if (auto problem = rule_problem("missing.default", missing.default_rule)) return problem;
  for (const auto& [column, rule] : missing.columns)
    if (auto problem = rule_problem("missing.columns." + column, rule)) return problem;
  for (const auto& [column, value] : missing.constants) {
    const auto where = "missing.constants." + column;
    if (missing.columns.contains(column)) return where + ": missing.columns names the column too";
    if (csv::good_text(value) != value.size()) return where + ": has a NUL byte or is not UTF-8";
  }
  return std::nullopt;
}

Problem clip_problem(const api::CsvClip& clip) {
  if (clip.default_bounds)
    if (auto problem = bounds_problem("clip.default", *clip.default_bounds)) return problem;
  for (const auto& [column, bounds] : clip.columns)
    if (auto problem = bounds_problem("clip.columns." + column, bounds)) return problem;
  return std::nullopt;
}

Problem problem_of(const api::CsvIngestion& spec) {
  if (!spec.delimiter.empty() && !csv::delimiter_of(spec.delimiter))
    return "delimiter: is none of , ; | and tab";
  if (const auto parts = split_path(spec.from); !parts) return "from: " + parts.error().message;
  for (const auto& [column, type] : spec.types)
    if (!csv::declared_type(type))
      return "types." + column + ": " + type + " is none of Integer, Number and Text";
  if (auto problem = missing_problem(spec.missing)) return problem;
  return clip_problem(spec.clip);
}

}  // namespace

Outcome<void> check_csv(const api::CsvIngestion& spec) {
  if (auto problem = problem_of(spec)) return failed(FailureKind::kInvalid, "csv." + *problem);
  return {};
}

}  // namespace gpupool::carry
