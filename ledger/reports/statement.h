// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include "base/money.h"
#include "base/month.h"
#include "base/result.h"
#include "books/books.h"
#include "books/fact.h"
#include "books/payment.h"

namespace gpupool::ledger {

// Whose statement it is; an empty field: of all.
struct Whose {
  std::string ns;
  std::string owner;
  bool for_owner = false;  // amounts are what owners are paid
  std::int64_t since = 0;  // Unix seconds: what began to be held before that is left out
};

// What one entry is in a month.
struct StatementLine {
  std::int64_t seq = 0;
  Fact fact;
  std::int64_t from = 0;  // in the month
  std::int64_t to = 0;
  base::Micros amount = 0;
  std::int64_t corrects = 0;  // the entry that is corrected; then it is of no time
  std::string note;           // why it is in this month; empty: nothing to say
};

// What an owner was paid in a month.
struct StatementPayment {
  std::int64_t seq = 0;
  std::int64_t entered = 0;  // Unix seconds
  Payment payment;
};

inline constexpr std::size_t kAnyNumberOfLines = std::numeric_limits<std::size_t>::max();

struct Statement {
  base::Month month;
  Whose whose;
  std::vector<StatementLine> lines;
  std::map<std::string, base::Micros> totals;  // by currency
  std::int64_t closing = 0;                    // the entry that closed the month; 0: it is open
  // Of payouts only.
  std::vector<StatementPayment> payments = {};
  std::map<std::string, base::Micros> owed = {};  // at the end of the month, of all months, by currency
};

// An entry that runs beyond its month is split; its parts add up to its amount. Disputed entries are not in
// it. What was entered after its own month was closed is of a later one: see parts_of(). kInvalidArgument,
// with HTTP status 413: it has more than most_lines; a line takes about 1 kB of memory.
base::Result<Statement> make_statement(Books& books, const base::Month& month, const Whose& whose,
                                       std::size_t most_lines = kAnyNumberOfLines);

// With a line for each job, and the totals.
std::string as_text(const Statement& statement);
// With a line for each entry; RFC 4180.
std::string as_csv(const Statement& statement);
std::string as_json(const Statement& statement);
// With a line for each entry, in the columns of FOCUS 1.0. Of a bill only.
std::string as_focus(const Statement& statement);
// format: text, csv, json or focus.
std::string in_format(const Statement& statement, const std::string& format);

}  // namespace gpupool::ledger
