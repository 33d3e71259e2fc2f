// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>

#include "base/money.h"
#include "books/books.h"
#include "books/change.h"

namespace gpupool::ledger {

// What namespaces were charged, by month: sums of entries, kept in memory. Not thread-safe.
class Spending {
 public:
  // Adds the entries that were made since the last call.
  base::Result<void> read(Books& books);
  // month: such as 2026-11; empty: in all.
  base::Micros of(const std::string& ns, const std::string& currency, const std::string& month) const;

 private:
  void add(const Entry& entry, const Change& change);

  std::int64_t last_ = 0;  // entry that was added
  ClosedMonths closed_;
  // By month, or "" for all of them, of a namespace and a currency.
  std::map<std::pair<std::string, std::string>, std::map<std::string, base::Micros>> sums_;
};

}  // namespace gpupool::ledger
