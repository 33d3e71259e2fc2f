// SPDX-License-Identifier: Apache-2.0
#include "csv/survey.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace gpupool::carry::csv {
namespace {

bool holds_numbers(const ColumnRules& column) {
  return column.type != ColumnType::kText && (column.wants_median() || column.wants_quantiles());
}

std::size_t count_if_of(const Rules& rules, bool (*wanted)(const ColumnRules&)) {
  return static_cast<std::size_t>(std::count_if(rules.columns.begin(), rules.columns.end(), wanted));
}

bool counts_modes(const ColumnRules& column) { return column.missing == MissingRule::kMode; }

// Where a quantile lies among `total` sorted values: at a place or between it and the next one.
struct Position {
  std::int64_t place;
  double beyond;  // 0 to 1
};

Position position_of(double q, std::int64_t total) {
  const double at = static_cast<double>(total - 1) * q;
  const double place = std::floor(at);
  return {static_cast<std::int64_t>(place), at - place};
}

// numpy's linear interpolation, bit for bit.
double between(double low, double high, double beyond) {
  if (low == high || beyond == 0) return low;
  const double gap = high - low;
  return beyond < 0.5 ? low + gap * beyond : high - gap * (1 - beyond);
}

}  // namespace

Survey::Survey(const Rules& rules, std::size_t numbers_memory, std::size_t modes_memory)
    : rules_(&rules),
      facts_(rules.columns.size()),
      slots_(rules.columns.size()),
      cells_(rules.columns.size()),
      numbers_(count_if_of(rules, holds_numbers), numbers_memory),
      modes_(count_if_of(rules, counts_modes), modes_memory),
      drops_(rules) {
  std::size_t numbers = 0;
  std::size_t modes = 0;
  for (std::size_t i = 0; i < slots_.size(); ++i) {
    if (holds_numbers(rules.columns[i])) slots_[i].numbers = numbers++;
    if (counts_modes(rules.columns[i])) slots_[i].mode = modes++;
    if (slots_[i].numbers != kNone || slots_[i].mode != kNone) again_.push_back(i);
  }
}

void Survey::add(const RowReader& row) {
  ++rows_;
  if (const auto problem = shape_problem(row, facts_.size())) return drops_.add(*problem, 0, row.line());
  if (read_cells(row)) keep();
}

// Returns whether the row is kept.
bool Survey::read_cells(const RowReader& row) {
  const auto fields = row.fields();
  bool kept = true;
  for (std::size_t i = 0; i < fields.size(); ++i) {
    const auto& column = rules_->columns[i];
    auto& facts = facts_[i];
    const auto text = fields[i].text(scratch_);
    const bool is_text =
        column.type == ColumnType::kText || (column.type == ColumnType::kFound && facts.texts);
    const auto cell = is_text ? read_text(text) : read_cell(text);
    cells_[i] = cell;
    facts.integers |= cell.kind == CellKind::kInteger;
    facts.numbers |= cell.kind == CellKind::kNumber;
    if (cell.kind == CellKind::kText && !facts.texts) {
      facts.texts = true;
      if (column.type == ColumnType::kFound && slots_[i].numbers != kNone) numbers_.forget(slots_[i].numbers);
    }
    if (kept && column.rejects(cell.kind)) {
      kept = false;
      drops_.add(cell.kind == CellKind::kMissing ? DropKind::kMissing : DropKind::kType, i, row.line());
    }
  }
  return kept;
}

void Survey::keep() {
  for (std::size_t i = 0; i < cells_.size(); ++i) {
    const auto& cell = cells_[i];
    auto& facts = facts_[i];
    if (cell.kind == CellKind::kMissing) {
      ++facts.missing;
      continue;
    }
    ++facts.values;
    if (cell.is_number()) {
      facts.sum.add(cell.number);
      if (slots_[i].numbers != kNone) numbers_.add(slots_[i].numbers, cell.number);
    }
  }
}

void Survey::add_again(const RowReader& row) {
  if (!kept_->contains(row)) return;
  for (const auto i : again_) {
    const auto text = row.fields()[i].text(scratch_);
    if (numbers_open_ && slots_[i].numbers != kNone && type(i) != ColumnType::kText) {
      const auto cell = read_cell(text);
      if (cell.is_number()) numbers_.add(slots_[i].numbers, cell.number);
    }
    if (modes_open_ && slots_[i].mode != kNone && !is_missing(text)) modes_.add(slots_[i].mode, text);
  }
}

ColumnType Survey::type(std::size_t at) const {
  const auto& column = rules_->columns[at];
  const auto& facts = facts_[at];
  if (column.type != ColumnType::kFound) return column.type;
  if (facts.texts) return ColumnType::kText;
  if (facts.numbers) return ColumnType::kNumber;
  if (facts.integers) return ColumnType::kInteger;
  double number = 0;
  const bool text =
      column.missing == MissingRule::kConstant && parse_number(column.constant, number) == NumberKind::kNone;
  return text ? ColumnType::kText : ColumnType::kNumber;
}

bool Survey::counts_filled(std::size_t column) const {
  const auto rule = rules_->columns[column].missing;
  return rule != MissingRule::kKeep && rule != MissingRule::kDrop;
}

bool Survey::more() {
  if (first_) {
    first_ = false;
    kept_.emplace(*rules_, drops_);
    look_for_numbers();
    look_for_modes();
  } else {
    modes_open_ = modes_open_ && modes_.settle(mode_types_);
  }
  numbers_open_ = numbers_open_ && numbers_.settle();
  return numbers_open_ || modes_open_;
}

void Survey::look_for_numbers() {
  for (const auto i : again_) {
    if (slots_[i].numbers == kNone) continue;
    const std::int64_t values = facts_[i].values;
    std::vector<std::int64_t> ranks;
    const auto want = [&ranks, values](std::int64_t rank) {
      if (rank >= 0 && rank < values) ranks.push_back(rank);
    };
    if (type(i) != ColumnType::kText) {
      const auto& column = rules_->columns[i];
      if (column.wants_median() && facts_[i].missing > 0)
        for (const auto rank : {(values - 1) / 2, values / 2}) want(rank);
      const std::int64_t filled = counts_filled(i) ? facts_[i].missing : 0;
      if (column.wants_quantiles()) {
        for (const auto& q : {column.clip->lower.quantile, column.clip->upper.quantile}) {
          if (!q) continue;
          const auto place = position_of(*q, values + filled).place;
          for (const auto rank : {place, place + 1, place - filled, place + 1 - filled}) want(rank);
        }
      }
    }
    if (ranks.empty()) {
      numbers_.forget(slots_[i].numbers);
    } else {
      numbers_.want(slots_[i].numbers, ranks);
    }
  }
}

void Survey::look_for_modes() {
  for (const auto i : again_) {
    if (slots_[i].mode == kNone) continue;
    mode_types_.push_back(type(i));
    if (facts_[i].missing == 0) {
      modes_.forget(slots_[i].mode);
    } else {
      modes_open_ = true;
    }
  }
}

std::optional<std::size_t> Survey::without_mode() const {
  const auto found = std::find_if(again_.begin(), again_.end(), [this](std::size_t i) {
    return slots_[i].mode != kNone && modes_.gave_up(slots_[i].mode);
  });
  return found == again_.end() ? std::nullopt : std::optional(*found);
}

double Survey::median(std::size_t column) const {
  const auto& values = facts_[column].values;
  const double low = numbers_.at(slots_[column].numbers, (values - 1) / 2);
  const double high = numbers_.at(slots_[column].numbers, values / 2);
  const double sum = low + high;
  return std::isfinite(sum) ? sum / 2 : low / 2 + high / 2;
}

double Survey::quantile(std::size_t column, double q, std::int64_t filled, double fill) const {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  const std::int64_t values = facts_[column].values;
  const std::int64_t total = values + filled;
  // With `filled` times `fill` among the values, the one at a place is the same one as without, the one
  // `filled` places before it, or `fill` if that is between them.
  const auto at = [&](std::int64_t place) {
    const auto value = [&](std::int64_t rank) { return numbers_.at(slots_[column].numbers, rank); };
    const double high = place < values ? value(place) : kInfinity;
    if (filled == 0) return high;
    return std::clamp(fill, place >= filled ? value(place - filled) : -kInfinity, high);
  };
  const auto [place, beyond] = position_of(q, total);
  return between(at(place), at(std::min(place + 1, total - 1)), beyond);
}

}  // namespace gpupool::carry::csv
