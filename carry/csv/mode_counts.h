// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "csv/column_rules.h"

namespace gpupool::carry::csv {

// Finds the most frequent value of several columns at once, exactly and in bounded memory. As long as all
// different values fit, they are counted. Else a column's values are parted by their hash, one part is
// counted, and the column is read again for each of the others. Not thread-safe.
class ModeCounts {
 public:
  static constexpr std::uint64_t kMaxParts = 32;

  // memory: bytes for all columns together, roughly.
  ModeCounts(std::size_t columns, std::size_t memory) : columns_(columns), memory_(memory) {}

  // Adds one value in the reading that goes on.
  void add(std::size_t column, std::string_view value);
  // The column is of no interest any more.
  void forget(std::size_t column);

  // After each reading. types: of all columns; in columns of numbers 1 and 1.0 are one value. Returns whether
  // the columns must be read again, in any order.
  bool settle(const std::vector<ColumnType>& types);
  // After settle() returned false. Whether a column has so many different values that they were not counted.
  bool gave_up(std::size_t column) const { return columns_[column].gave_up; }
  // The most frequent value; the smallest of several. REQUIRES: the column has values and did not give up.
  const std::string& mode(std::size_t column) const { return columns_[column].best; }

 private:
  struct Hash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const { return std::hash<std::string_view>()(text); }
  };
  using Counts = std::unordered_map<std::string, std::int64_t, Hash, std::equal_to<>>;
  struct Column {
    Counts counts;
    std::size_t bytes = 0;
    std::uint64_t parts = 1;
    std::uint64_t part = 0;  // that is counted now
    bool done = false;
    bool gave_up = false;
    std::string best;
    std::int64_t best_count = 0;
  };

  void make_room();
  void give_up(Column& column);
  void clear(Column& column);
  static void halve(Column& column);
  static void find_best(Column& column, ColumnType type);

  std::vector<Column> columns_;
  std::size_t memory_;
  std::size_t bytes_ = 0;
  bool first_ = true;
};

}  // namespace gpupool::carry::csv
