// SPDX-License-Identifier: Apache-2.0
// What an entry changes in what is charged, and in which months. Pure.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/month.h"
#include "base/result.h"
#include "books/entry.h"
#include "books/fact.h"

namespace gpupool::ledger {

struct Change {
  Fact fact;
  base::Micros before = 0;  // what was charged for the fact
  base::Micros after = 0;
  std::int64_t corrects = 0;  // the entry that is corrected; 0: none
  std::string reason;         // of the correction
};

// True if the entry is about what a job has held: no closing and no payment.
bool is_change(const Entry& entry);
// REQUIRES: is_change(entry). Of a disputed entry nothing is charged.
base::Result<Change> change_of(const Entry& entry);
// What the entry, of any kind, adds to accounts.
base::Result<std::vector<Posting>> postings_of(const Entry& entry);

// The months that are closed, such as 2026-11, with the entries that closed them.
using ClosedMonths = std::map<std::string, std::int64_t>;

// What of a change is of one month.
struct Part {
  base::Month month;
  std::int64_t from = 0;  // what was held; of a correction, and if late, not of the month
  std::int64_t to = 0;
  base::Micros before = 0;
  base::Micros after = 0;
  bool late = false;  // its own month was closed before it was entered
};

// A segment is of the months in which it was held, a correction of the month in which it was entered. What
// would be of a closed month is of the first open one from `entered` on. closed: the months that were closed
// by earlier entries. The parts add up to the change.
std::vector<Part> parts_of(const Entry& entry, const Change& change, const ClosedMonths& closed);

}  // namespace gpupool::ledger
