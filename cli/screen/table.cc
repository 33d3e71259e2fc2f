// SPDX-License-Identifier: Apache-2.0
#include "screen/table.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "screen/plain_text.h"

namespace gpupool::screen {
namespace {

constexpr std::size_t kGap = 3;

// Appends one cell and the spaces behind it; the last cell of a line has none.
void append(std::string& all, const Cell& cell, std::size_t columns, bool last, const Terminal& terminal) {
  const std::string shown = cut(cell.text, std::max<std::size_t>(columns, 1));
  all += painted(shown, cell.colour, terminal);
  if (!last) all.append(columns - width(shown) + kGap, ' ');
}

void make_plain(std::vector<Cell>& cells) {
  for (Cell& cell : cells) cell.text = cell.text.empty() ? "-" : plain_text(cell.text);
}

}  // namespace

void Table::add(std::vector<Cell> cells) {
  make_plain(cells);
  rows_.push_back(std::move(cells));
}

std::vector<std::size_t> Table::widths(std::size_t limit) const {
  std::vector<std::size_t> wide;
  wide.reserve(columns_.size());
  for (const Column& column : columns_) wide.push_back(width(column.title));
  for (const auto& row : rows_) {
    for (std::size_t i = 0; i < row.size(); ++i) wide[i] = std::max(wide[i], width(row[i].text));
  }
  if (limit == 0) return wide;
  std::size_t total = std::accumulate(wide.begin(), wide.end(), kGap * (wide.size() - 1));
  while (total > limit) {
    std::size_t widest = wide.size();
    for (std::size_t i = 0; i < wide.size(); ++i) {
      const std::size_t least = std::max(columns_[i].least, width(columns_[i].title));
      if (columns_[i].least == 0 || wide[i] <= least) continue;
      if (widest == wide.size() || wide[i] > wide[widest]) widest = i;
    }
    if (widest == wide.size()) break;
    --wide[widest];
    --total;
  }
  return wide;
}

std::string Table::text(const Terminal& terminal) const {
  const auto wide = widths(terminal.columns);
  std::string all;
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    append(all, {columns_[i].title}, wide[i], i + 1 == columns_.size(), terminal);
  }
  all += '\n';
  for (const auto& row : rows_) {
    for (std::size_t i = 0; i < row.size(); ++i) append(all, row[i], wide[i], i + 1 == row.size(), terminal);
    all += '\n';
  }
  return all;
}

std::string Table::line_below(std::vector<Cell> cells, const Terminal& terminal) const {
  make_plain(cells);
  const auto wide = widths(terminal.columns);
  std::string line;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    append(line, cells[i], std::max(wide[i], width(cells[i].text)), i + 1 == cells.size(), terminal);
  }
  return line + '\n';
}

}  // namespace gpupool::screen
