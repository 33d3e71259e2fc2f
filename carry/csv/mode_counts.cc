// SPDX-License-Identifier: Apache-2.0
#include "csv/mode_counts.h"

#include <algorithm>
#include <array>
#include <bit>
#include <utility>

#include "csv/number_text.h"

namespace gpupool::carry::csv {
namespace {

constexpr std::size_t kShortText = 15;  // a std::string holds so much without the heap

// What one value takes: a node, its bucket, and what the allocator adds.
std::size_t bytes_of(std::string_view value) {
  return 88 + (value.size() > kShortText ? value.size() + 17 : 0);
}

// 1 and 1.0 come into one part, whether the column turns out to be of numbers or not.
std::uint64_t part_of(std::string_view value, std::uint64_t parts) {
  double number = 0;
  std::size_t hash = 0;
  if (parse_number(value, number) != NumberKind::kNone) {
    const auto bits = std::bit_cast<std::array<char, sizeof number>>(number + 0.0);  // and -0 to 0
    hash = std::hash<std::string_view>()({bits.data(), bits.size()});
  } else {
    hash = std::hash<std::string_view>()(value);
  }
  return (hash >> 32U) & (parts - 1);  // the low bits choose buckets
}

// A long double holds each integer of 64 bits and each double.
long double exact_number(std::string_view text, ColumnType type) {
  if (type == ColumnType::kInteger)
    if (const auto integer = parse_integer(text)) return static_cast<long double>(*integer);
  double number = 0;
  parse_number(text, number);
  return static_cast<long double>(number);
}

}  // namespace

void ModeCounts::add(std::size_t at, std::string_view value) {
  auto& column = columns_[at];
  if (column.done || column.gave_up) return;
  if (column.parts > 1 && part_of(value, column.parts) != column.part) return;
  if (const auto known = column.counts.find(value); known != column.counts.end()) {
    ++known->second;
    return;
  }
  column.counts.emplace(value, 1);
  column.bytes += bytes_of(value);
  bytes_ += bytes_of(value);
  if (bytes_ > memory_) make_room();
}

void ModeCounts::make_room() {
  if (!first_) {
    // A part is as large as the first one was, unless a few long values are all there is.
    if (bytes_ > 2 * memory_)
      for (auto& column : columns_) give_up(column);
    return;
  }
  while (bytes_ > memory_) {
    auto& largest = *std::max_element(columns_.begin(), columns_.end(),
                                      [](const Column& a, const Column& b) { return a.bytes < b.bytes; });
    if (largest.bytes == 0) return;
    bytes_ -= largest.bytes;
    halve(largest);
    bytes_ += largest.bytes;
    if (largest.parts > kMaxParts) give_up(largest);
  }
}

void ModeCounts::halve(Column& column) {
  column.parts *= 2;
  std::erase_if(column.counts, [&column](const auto& entry) {
    const bool goes = part_of(entry.first, column.parts) != column.part;
    if (goes) column.bytes -= bytes_of(entry.first);
    return goes;
  });
}

void ModeCounts::clear(Column& column) {
  bytes_ -= std::exchange(column.bytes, 0);
  column.counts = {};
}

void ModeCounts::give_up(Column& column) {
  clear(column);
  column.gave_up = !column.done;
}

void ModeCounts::forget(std::size_t column) {
  clear(columns_[column]);
  columns_[column].done = true;
}

void ModeCounts::find_best(Column& column, ColumnType type) {
  const auto offer = [&column](const std::string& value, std::int64_t count, bool smaller) {
    if (count < column.best_count || (count == column.best_count && !smaller)) return;
    column.best = value;
    column.best_count = count;
  };
  if (type == ColumnType::kText) {
    for (const auto& [value, count] : column.counts) offer(value, count, value < column.best);
    return;
  }
  struct Value {
    long double number;
    const std::string* text;
    std::int64_t count;
  };
  std::vector<Value> values;
  values.reserve(column.counts.size());
  for (const auto& [text, count] : column.counts) values.push_back({exact_number(text, type), &text, count});
  std::sort(values.begin(), values.end(), [](const Value& a, const Value& b) { return a.number < b.number; });
  for (std::size_t i = 0; i < values.size();) {
    const auto& first = values[i];
    std::int64_t count = 0;
    for (; i < values.size() && values[i].number == first.number; ++i) count += values[i].count;
    offer(*first.text, count, column.best_count > 0 && first.number < exact_number(column.best, type));
  }
}

bool ModeCounts::settle(const std::vector<ColumnType>& types) {
  first_ = false;
  bool again = false;
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    auto& column = columns_[i];
    if (column.done || column.gave_up) continue;
    find_best(column, types[i]);
    clear(column);
    column.done = ++column.part == column.parts;
    again = again || !column.done;
  }
  return again;
}

}  // namespace gpupool::carry::csv
