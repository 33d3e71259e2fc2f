// SPDX-License-Identifier: Apache-2.0
#include "csv/column_rules.h"

#include <cmath>
#include <unordered_map>

namespace gpupool::carry::csv {
namespace {

constexpr std::size_t kShownNames = 300;  // bytes

using Places = std::unordered_map<std::string_view, std::size_t>;

std::string shown_names(const std::vector<std::string>& header) {
  std::string names;
  for (const auto& name : header) {
    if (!names.empty() && names.size() + name.size() > kShownNames) return names + " and others";
    names += (names.empty() ? "" : ", ") + name;
  }
  return names;
}

Bound bound_of(const std::string& number, const std::string& quantile) {
  Bound bound;
  bound.quantile = finite_number(quantile);
  bound.number = finite_number(number);
  if (!bound.number) return bound;
  // An integer beyond 2^53 is not rounded.
  const auto exact = parse_integer(number);
  bound.text = exact ? std::to_string(*exact) : number_text(*bound.number);
  return bound;
}

Bounds bounds_of(const api::CsvBounds& bounds) {
  return {bound_of(bounds.min, bounds.lower_quantile), bound_of(bounds.max, bounds.upper_quantile)};
}

// Calls `apply` with each named column and its value.
template <class Value, class Apply>
Outcome<void> for_named(const char* field, const std::map<std::string, Value>& named,
                        const std::vector<std::string>& header, const Places& places, Rules& rules,
                        const Apply& apply) {
  for (const auto& [name, value] : named) {
    const auto place = places.find(name);
    if (place == places.end())
      return failed(FailureKind::kInvalid, "csv." + std::string(field) + " names the column " + name +
                                               ", and the file has " + shown_names(header));
    apply(rules.columns[place->second], value);
  }
  return {};
}

void set_defaults(const api::CsvIngestion& spec, const std::vector<std::string>& header, Rules& rules) {
  const auto rule = missing_rule(spec.missing.default_rule).value_or(MissingRule::kKeep);
  if (spec.clip.default_bounds) rules.default_bounds = bounds_of(*spec.clip.default_bounds);
  rules.columns.resize(header.size());
  for (std::size_t i = 0; i < header.size(); ++i) {
    rules.columns[i].name = header[i];
    rules.columns[i].missing = rule;
    if (!rules.default_bounds.empty()) rules.columns[i].clip = &rules.default_bounds;
  }
}

}  // namespace

std::optional<MissingRule> missing_rule(std::string_view word) {
  if (word == api::csv_missing::kKeep) return MissingRule::kKeep;
  if (word == api::csv_missing::kDrop) return MissingRule::kDrop;
  if (word == api::csv_missing::kMean) return MissingRule::kMean;
  if (word == api::csv_missing::kMedian) return MissingRule::kMedian;
  if (word == api::csv_missing::kMode) return MissingRule::kMode;
  return std::nullopt;
}

std::optional<ColumnType> declared_type(std::string_view word) {
  if (word == api::csv_type::kInteger) return ColumnType::kInteger;
  if (word == api::csv_type::kNumber) return ColumnType::kNumber;
  if (word == api::csv_type::kText) return ColumnType::kText;
  return std::nullopt;
}

std::optional<char> delimiter_of(std::string_view text) {
  if (text == "tab") return '\t';
  if (text.size() != 1 || std::string_view(",;|\t").find(text.front()) == std::string_view::npos)
    return std::nullopt;
  return text.front();
}

std::optional<double> finite_number(std::string_view text) {
  double value = 0;
  if (parse_number(text, value) == NumberKind::kNone || !std::isfinite(value)) return std::nullopt;
  return value;
}

const char* type_word(ColumnType type) {
  if (type == ColumnType::kText) return api::csv_type::kText;
  return type == ColumnType::kInteger ? api::csv_type::kInteger : api::csv_type::kNumber;
}

const char* rule_word(MissingRule rule) {
  switch (rule) {
    case MissingRule::kKeep:
      return api::csv_missing::kKeep;
    case MissingRule::kDrop:
      return api::csv_missing::kDrop;
    case MissingRule::kMean:
      return api::csv_missing::kMean;
    case MissingRule::kMedian:
      return api::csv_missing::kMedian;
    case MissingRule::kMode:
      return api::csv_missing::kMode;
    case MissingRule::kConstant:
      break;
  }
  return "Constant";
}

Outcome<void> make_rules(const api::CsvIngestion& spec, const std::vector<std::string>& header,
                         Rules& rules) {
  Places places;
  places.reserve(header.size());
  for (std::size_t i = 0; i < header.size(); ++i) places.emplace(header[i], i);
  set_defaults(spec, header, rules);
  const auto named = [&](const char* field, const auto& values, const auto& apply) {
    return for_named(field, values, header, places, rules, apply);
  };
  return named("types", spec.types,
               [](ColumnRules& column, const std::string& type) {
                 column.type = declared_type(type).value_or(ColumnType::kFound);
               })
      .and_then([&] {
        return named("missing.columns", spec.missing.columns,
                     [](ColumnRules& column, const std::string& rule) {
                       column.missing = missing_rule(rule).value_or(MissingRule::kKeep);
                       column.missing_by_name = true;
                     });
      })
      .and_then([&] {
        return named("missing.constants", spec.missing.constants,
                     [](ColumnRules& column, const std::string& value) {
                       column.missing = MissingRule::kConstant;
                       column.missing_by_name = true;
                       column.constant = value;
                     });
      })
      .and_then([&] {
        return named("clip.columns", spec.clip.columns,
                     [&rules](ColumnRules& column, const api::CsvBounds& given) {
                       const auto& bounds = rules.bounds.emplace(column.name, bounds_of(given)).first->second;
                       column.clip = bounds.empty() ? nullptr : &bounds;
                       column.clip_by_name = !bounds.empty();
                     });
      });
}

}  // namespace gpupool::carry::csv
