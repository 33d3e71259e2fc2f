// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "csv/cell.h"
#include "csv/column_rules.h"
#include "csv/kept_rows.h"
#include "csv/mode_counts.h"
#include "csv/order_statistics.h"
#include "csv/row_reader.h"
#include "csv/running_sum.h"

namespace gpupool::carry::csv {

inline constexpr std::size_t kNumbersMemory = 24UL * 1024 * 1024;  // bytes that OrderStatistics may take
inline constexpr std::size_t kModesMemory = 8UL * 1024 * 1024;     // and ModeCounts

// What one column holds. Types are found from all rows with the right number of fields, all else from the
// rows that are kept.
struct ColumnFacts {
  bool integers = false;
  bool numbers = false;
  bool texts = false;
  std::int64_t missing = 0;
  std::int64_t values = 0;
  RunningSum sum;  // of its numbers, until a text is seen
};

// The first reading: which rows are kept, and what is known of columns then. Not thread-safe.
class Survey {
 public:
  static constexpr std::size_t kNone = static_cast<std::size_t>(-1);

  // `rules` must outlive the survey. memory: for the numbers and for the values that are held.
  explicit Survey(const Rules& rules, std::size_t numbers_memory = kNumbersMemory,
                  std::size_t modes_memory = kModesMemory);

  void add(const RowReader& row);        // in the first reading
  void add_again(const RowReader& row);  // in later ones, while more() is true

  // After each reading: whether the file must be read again. quantile_ranks() tells what is looked for.
  bool more();

  std::int64_t rows() const { return rows_; }
  std::int64_t kept() const { return rows_ - drops_.rows(); }
  const Drops& drops() const { return drops_; }
  const ColumnFacts& facts(std::size_t column) const { return facts_[column]; }
  // Of the values; a column without one is of numbers, unless a constant is a text.
  ColumnType type(std::size_t column) const;
  // After more(): a column whose mode is wanted and cannot be found, because it has too many different
  // values.
  std::optional<std::size_t> without_mode() const;
  // REQUIRES: the rule of the column is Mode, it misses values, and more() returned false.
  const std::string& mode(std::size_t column) const { return modes_.mode(slots_[column].mode); }
  // The median and quantiles of a column that wants them, of its values before imputing; REQUIRES: it has
  // values, and more() returned false. filled: how many missing values take the value `fill` and count as
  // values of the quantile.
  double median(std::size_t column) const;
  double quantile(std::size_t column, double q, std::int64_t filled, double fill) const;

 private:
  struct Slot {
    std::size_t numbers = kNone;  // in numbers_
    std::size_t mode = kNone;     // in modes_
  };

  bool read_cells(const RowReader& row);
  void keep();
  void look_for_numbers();
  void look_for_modes();
  bool counts_filled(std::size_t column) const;

  const Rules* rules_;
  std::vector<ColumnFacts> facts_;
  std::vector<Slot> slots_;
  std::vector<Cell> cells_;  // of the row that is looked at
  OrderStatistics numbers_;
  ModeCounts modes_;
  Drops drops_;
  std::vector<ColumnType> mode_types_;
  std::vector<std::size_t> again_;  // columns whose values are read again
  bool numbers_open_ = true;
  bool modes_open_ = false;  // values are counted from the second reading on, of columns that miss some
  bool first_ = true;
  std::int64_t rows_ = 0;
  std::string scratch_;
  std::optional<KeptRows> kept_;
};

}  // namespace gpupool::carry::csv
