// SPDX-License-Identifier: Apache-2.0
// A month is closed: its bills and payouts stay as they are.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
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

// Visits every change after the entry of this number, in order. closed: the months that were closed up to
// there; what is closed later is added to it before the changes that follow are visited. mentioning: as of
// Books::each_entry().
base::Result<void> each_change(Books& books, std::int64_t after, ClosedMonths& closed,
                               const std::function<void(const Entry&, const Change&)>& visit,
                               const std::string& mentioning = "");

// What is charged in each month.
class MonthTotals {
 public:
  // closed: the months that were closed before this entry.
  void add(const Entry& entry, const Change& change, const ClosedMonths& closed);
  // By currency, without those that add up to 0.
  std::map<std::string, base::Micros> of(const std::string& month) const;

 private:
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
