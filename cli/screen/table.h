// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "screen/terminal.h"

namespace gpupool::screen {

struct Cell {
  std::string text;  // of anybody; empty: shown as "-"
  Colour colour = Colour::kNone;
};

struct Column {
  std::string title;
  std::size_t least =
      0;  // characters that it may be cut to where a line is longer than the terminal; 0: never cut
};

// Lines of aligned cells with a header, as kubectl prints them: three spaces between columns.
class Table {
 public:
  explicit Table(std::vector<Column> columns) : columns_(std::move(columns)) {}

  // Cells are made plain. REQUIRES: as many as columns.
  void add(std::vector<Cell> cells);
  bool empty() const { return rows_.empty(); }
  // On a terminal that is too narrow, the widest columns that may be cut are cut.
  std::string text(const Terminal& terminal) const;
  // A line below the text: the cells in columns as wide as in the text, and wider where that cuts no cell.
  std::string line_below(std::vector<Cell> cells, const Terminal& terminal) const;

 private:
  std::vector<std::size_t> widths(std::size_t limit) const;

  std::vector<Column> columns_;
  std::vector<std::vector<Cell>> rows_;
};

}  // namespace gpupool::screen
