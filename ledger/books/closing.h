// SPDX-License-Identifier: Apache-2.0
// A month is closed: its bills and payouts stay as they are.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <set>
#include <string>

#include "base/json.h"
#include "base/money.h"
#include "base/month.h"
#include "base/result.h"
#include "books/books.h"
#include "books/change.h"

namespace gpupool::ledger {

struct Closing {
  std::string month;                           // 2026-11
  std::map<std::string, base::Micros> totals;  // what was charged, by currency
  bool operator==(const Closing&) const = default;

  std::string key() const { return "closing/" + month; }
};

// Canonical JSON: one text for each closing.
std::string to_text(const Closing& closing);
base::Result<Closing> closing_from(const std::string& text);

// What is charged in each month. Takes entries in the order of their numbers.
class MonthTotals {
 public:
  base::Result<void> add(const Entry& entry);
  // The same for who has read the entry, which is no closing.
  void add(const Entry& entry, const Change& change);
  // Without the months that charge nothing in all.
  std::map<std::string, base::Micros> of(const std::string& month) const;
  // The months that were closed so far.
  const std::set<std::string>& closed() const { return closed_; }

 private:
  std::set<std::string> closed_;
  std::map<std::string, std::map<std::string, base::Micros>> totals_;  // by month and currency
};

// Enters that the month is closed. Fails if it has not ended, or if it is closed. now: Unix seconds.
base::Result<Entry> close_month(Books& books, const base::Month& month, std::int64_t now);

}  // namespace gpupool::ledger

namespace gpupool::base::json {

template <>
struct Schema<ledger::Closing> {
  using T = ledger::Closing;
  static constexpr auto fields = std::array{field<&T::month>("month"), field<&T::totals>("totals")};
};

}  // namespace gpupool::base::json
