// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "csv/missing_value.h"
#include "csv/number_text.h"

namespace gpupool::carry::csv {

enum class CellKind : std::uint8_t { kMissing, kInteger, kNumber, kText };

// The value of one field. `number` counts for kInteger and kNumber alone.
struct Cell {
  double number = 0;
  CellKind kind = CellKind::kMissing;
  bool is_number() const { return kind == CellKind::kInteger || kind == CellKind::kNumber; }
};

// Pure.
inline Cell read_text(std::string_view text) {
  return {0, is_missing(text) ? CellKind::kMissing : CellKind::kText};
}
inline Cell read_cell(std::string_view text) {
  Cell cell;
  const auto kind = parse_number(text, cell.number);
  if (kind == NumberKind::kNone) return read_text(text);
  cell.kind = kind == NumberKind::kInteger ? CellKind::kInteger : CellKind::kNumber;
  return cell;
}

}  // namespace gpupool::carry::csv
