// SPDX-License-Identifier: Apache-2.0
#include "csv/decisions.h"

#include <cmath>
#include <utility>

namespace gpupool::carry::csv {
namespace {

bool is_numeric(MissingRule rule) { return rule == MissingRule::kMean || rule == MissingRule::kMedian; }

// Decides for one column.
class Decider {
 public:
  Decider(const Rules& rules, const Survey& survey, std::size_t column)
      : rules_(rules.columns[column]), survey_(survey), facts_(survey.facts(column)), column_(column) {
    decision_.type = survey.type(column);
  }

  Outcome<ColumnDecision> run() {
    if (auto done = decide_fill(); !done) return tl::unexpected(done.error());
    if (auto done = decide_bounds(); !done) return tl::unexpected(done.error());
    return std::move(decision_);
  }

 private:
  tl::unexpected<Failure> refuse(const std::string& why) const {
    return failed(FailureKind::kInvalid, "column " + rules_.name + ": " + why);
  }
  bool is_text() const { return decision_.type == ColumnType::kText; }

  Outcome<void> decide_fill() {
    const auto rule = rules_.missing;
    if (rule == MissingRule::kKeep || rule == MissingRule::kDrop) return {};
    if (rule == MissingRule::kConstant) return fill_constant();
    if (is_text() && is_numeric(rule)) {
      if (rules_.missing_by_name)
        return refuse(std::string(rule_word(rule)) + " is of numbers, and the column has texts");
      if (facts_.missing > 0)
        decision_.note = std::string(rule_word(rule)) + " is of numbers: missing values are kept";
      return {};
    }
    if (facts_.missing == 0) return {};
    if (facts_.values == 0) {
      decision_.note = "no row has a value: missing values are kept";
      return {};
    }
    if (rule == MissingRule::kMode) {
      fill_mode();
      return {};
    }
    const double number = rule == MissingRule::kMean ? facts_.sum.mean() : survey_.median(column_);
    if (std::isnan(number)) {
      decision_.note =
          std::string(rule_word(rule)) + " of both infinities is no number: missing values are kept";
      return {};
    }
    fill_number(number);
    return {};
  }

  Outcome<void> fill_constant() {
    double number = 0;
    const auto kind = parse_number(rules_.constant, number);
    if (!is_text() && kind == NumberKind::kNone)
      return refuse("has numbers, and the constant \"" + rules_.constant + "\" is none");
    decision_.fills = facts_.missing > 0;
    decision_.fill = rules_.constant;
    decision_.fill_number = number;
    return {};
  }

  void fill_mode() {
    const auto& mode = survey_.mode(column_);
    if (is_text()) {
      decision_.fills = true;
      decision_.fill = mode;
      return;
    }
    double number = 0;
    parse_number(mode, number);
    fill_number(number);
    if (const auto exact = parse_integer(mode)) decision_.fill = std::to_string(*exact);
  }

  void fill_number(double number) {
    decision_.fills = true;
    decision_.fill_number = number;
    decision_.fill = number_text(number);
  }

  Outcome<void> decide_bounds() {
    decision_.imputed = decision_.fill;
    if (rules_.clip == nullptr) return {};
    if (is_text())
      return rules_.clip_by_name ? Outcome<void>(refuse("has texts, and only numbers are clipped"))
                                 : Outcome<void>();
    const std::int64_t filled = decision_.fills ? facts_.missing : 0;
    if (facts_.values + filled == 0) return {};
    const auto resolve = [&](const Bound& bound, bool& has, double& number, std::string& text) {
      if (bound.empty()) return;
      number = bound.number ? *bound.number
                            : survey_.quantile(column_, *bound.quantile, filled, decision_.fill_number);
      has = !std::isnan(number);  // a quantile between both infinities is no number
      text = bound.number ? bound.text : number_text(number);
    };
    auto& d = decision_;
    resolve(rules_.clip->lower, d.has_lower, d.lower, d.lower_text);
    resolve(rules_.clip->upper, d.has_upper, d.upper, d.upper_text);
    if (d.has_lower && d.has_upper && d.lower > d.upper)
      return refuse("its lower bound " + d.lower_text + " is larger than its upper bound " + d.upper_text);
    d.clips = facts_.values > 0 &&
              (d.clip_of(facts_.sum.min()) == Clip::kLow || d.clip_of(facts_.sum.max()) == Clip::kHigh);
    if (!d.fills) return {};
    d.fill_clip = d.clip_of(d.fill_number);
    if (d.fill_clip == Clip::kNone) return {};
    d.fill_number = d.fill_clip == Clip::kLow ? d.lower : d.upper;
    d.fill = d.fill_clip == Clip::kLow ? d.lower_text : d.upper_text;
    return {};
  }

  const ColumnRules& rules_;
  const Survey& survey_;
  const ColumnFacts& facts_;
  std::size_t column_;
  ColumnDecision decision_;
};

}  // namespace

Outcome<std::vector<ColumnDecision>> decide(const Rules& rules, const Survey& survey,
                                            const std::string& file) {
  std::vector<ColumnDecision> decisions;
  decisions.reserve(rules.columns.size());
  for (std::size_t i = 0; i < rules.columns.size(); ++i) {
    auto decision = Decider(rules, survey, i).run();
    if (!decision) return failed(decision.error().kind, file + ": " + decision.error().message);
    decisions.push_back(std::move(*decision));
  }
  return decisions;
}

}  // namespace gpupool::carry::csv
