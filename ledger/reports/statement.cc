// SPDX-License-Identifier: Apache-2.0
#include "reports/statement.h"

#include <algorithm>

#include "books/change.h"
#include "books/closing.h"

namespace gpupool::ledger {
namespace {

// What the tenant pays, or what the owner gets of it.
base::Micros share(const Fact& fact, base::Micros amount, bool for_owner) {
  return for_owner ? amount - platform_part(fact, amount) : amount;
}

bool concerns(const Whose& whose, const Fact& fact) {
  if (fact.from < whose.since) return false;
  if (!whose.ns.empty() && fact.ns != whose.ns) return false;
  if (whose.for_owner && fact.owner.empty()) return false;
  return whose.owner.empty() || fact.owner == whose.owner;
}

std::string note_of(const Change& change, const Part& part) {
  if (change.corrects > 0)
    return "correction of entry " + std::to_string(change.corrects) + ": " + change.reason;
  return part.late ? "was entered when its own month was closed" : "";
}

void add(Statement& statement, const Entry& entry, const Change& change, const ClosedMonths& closed) {
  if (!concerns(statement.whose, change.fact)) return;
  const bool for_owner = statement.whose.for_owner;
  for (const auto& part : parts_of(entry, change, closed)) {
    const auto amount =
        share(change.fact, part.after, for_owner) - share(change.fact, part.before, for_owner);
    if (for_owner && part.month.begin <= statement.month.begin)
      statement.owed[change.fact.currency] += amount;
    if (part.month.name != statement.month.name) continue;
    StatementLine line{entry.seq,       change.fact,          part.from, part.to, amount,
                       change.corrects, note_of(change, part)};
    statement.totals[line.fact.currency] += line.amount;
    statement.lines.push_back(std::move(line));
  }
}

base::Result<void> add_payments(Statement& statement, Books& books) {
  return each_payment(books, [&](const Entry& entry, const Payment& payment) {
    const auto& owner = statement.whose.owner;
    if ((!owner.empty() && payment.owner != owner) || entry.entered >= statement.month.end) return;
    statement.owed[payment.currency] -= payment.amount;
    if (entry.entered >= statement.month.begin)
      statement.payments.push_back({entry.seq, entry.entered, payment});
  });
}

}  // namespace

base::Result<Statement> make_statement(Books& books, const base::Month& month, const Whose& whose,
                                       std::size_t most_lines) {
  Statement statement{month, whose, {}, {}};
  ClosedMonths closed;
  const auto all = each_change(
      books, 0, closed,
      [&](const Entry& entry, const Change& change) {
        if (statement.lines.size() <= most_lines) add(statement, entry, change, closed);
      },
      whose.ns.empty() ? mention_of("owner", whose.owner) : mention_of("namespace", whose.ns));
  if (!all) return tl::unexpected<base::Error>(all.error());
  if (statement.lines.size() > most_lines)
    return tl::unexpected<base::Error>(
        {base::ErrorCode::kInvalidArgument,
         "more than " + std::to_string(most_lines) +
             " entries: ask for one namespace or owner, or run gpupool-ledger in its pod",
         413});
  if (whose.for_owner) {
    if (auto paid = add_payments(statement, books); !paid) return tl::unexpected<base::Error>(paid.error());
  }
  if (const auto found = closed.find(month.name); found != closed.end()) statement.closing = found->second;
  std::ranges::stable_sort(statement.lines, {}, &StatementLine::from);
  return statement;
}

}  // namespace gpupool::ledger
