// SPDX-License-Identifier: Apache-2.0
#include "reports/statement.h"

#include <algorithm>

namespace gpupool::ledger {
namespace {

// What the tenant pays, or what the owner gets of it.
base::Micros share(const Fact& fact, base::Micros amount, bool for_owner) {
  return for_owner ? amount - platform_part(fact, amount) : amount;
}

bool concerns(const Whose& whose, const Fact& fact) {
  if (!whose.ns.empty() && fact.ns != whose.ns) return false;
  if (whose.for_owner && fact.owner.empty()) return false;
  return whose.owner.empty() || fact.owner == whose.owner;
}

void add(Statement& statement, const Entry& entry, const Fact& fact) {
  const auto& month = statement.month;
  const bool for_owner = statement.whose.for_owner;
  if (fact.to <= month.begin || fact.from >= month.end || !concerns(statement.whose, fact)) return;
  StatementLine line{entry.seq, fact, std::max(fact.from, month.begin), std::min(fact.to, month.end), 0};
  line.amount = share(fact, amount_until(fact, entry.clipped, line.to), for_owner) -
                share(fact, amount_until(fact, entry.clipped, line.from), for_owner);
  statement.totals[fact.currency] += line.amount;
  statement.lines.push_back(std::move(line));
}

}  // namespace

base::Result<Statement> make_statement(Books& books, const base::Month& month, const Whose& whose) {
  Statement statement{month, whose, {}, {}};
  base::Result<void> read;
  const auto all = books.each_entry([&](const Entry& entry) {
    if (entry.kind != entry_kind::kSegment) return true;
    const auto fact = fact_from(entry.body);
    if (!fact) read = tl::unexpected<base::Error>(fact.error());
    if (fact) add(statement, entry, *fact);
    return read.has_value();
  });
  if (!all) return tl::unexpected<base::Error>(all.error());
  if (!read) return tl::unexpected<base::Error>(read.error());
  std::ranges::stable_sort(statement.lines, {}, &StatementLine::from);
  return statement;
}

base::Result<std::string> explain(Books& books, const std::string& job) {
  std::string text;
  const auto all = books.each_entry([&](const Entry& entry) {
    const auto fact = fact_from(entry.body);
    if (!fact || (job != fact->job_uid && job != fact->ns + "/" + fact->job)) return true;
    const auto each = fact->slices > 0
                          ? std::to_string(fact->slices) + "/" + std::to_string(fact->split) + " GPU"
                          : std::to_string(fact->gpus) + (fact->gpus == 1 ? " GPU" : " GPUs");
    text += "entry " + std::to_string(entry.seq) + " (" + entry.kind + "), segment " + fact->key() + " of " +
            fact->ns + "/" + fact->job + ":\n  " + std::to_string(fact->to - fact->from) + " s x " +
            std::to_string(fact->nodes.size()) + (fact->nodes.size() == 1 ? " node x " : " nodes x ") + each +
            " x " + base::micros_text(fact->per_gpu_hour) + " " + fact->currency +
            " per GPU-hour = " + base::micros_text(fact->cost) + "\n";
    if (!entry.remark.empty()) text += "  " + entry.remark + "\n";
    if (entry.kind != entry_kind::kSegment) return true;
    for (const auto& posting : postings_of(*fact, entry.clipped))
      text += "  " + posting.account + ": " + base::micros_text(posting.amount) + "\n";
    return true;
  });
  if (!all) return tl::unexpected<base::Error>(all.error());
  if (text.empty())
    return base::fail(base::ErrorCode::kNotFound,
                      "the books have nothing of job " + job +
                          "; give NAMESPACE/NAME or its UID. What it holds now is in its "
                          "status, not in the books");
  return text;
}

}  // namespace gpupool::ledger
