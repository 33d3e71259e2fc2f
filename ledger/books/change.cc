// SPDX-License-Identifier: Apache-2.0
#include "books/change.h"

#include <algorithm>
#include <utility>

#include "books/correction.h"
#include "books/payment.h"

namespace gpupool::ledger {
namespace {

base::Month open_month(std::int64_t moment, const ClosedMonths& closed) {
  auto month = base::month_of(moment);
  while (closed.contains(month.name)) month = base::month_of(month.end);
  return month;
}

}  // namespace

bool is_change(const Entry& entry) {
  return entry.kind != entry_kind::kClosing && entry.kind != entry_kind::kPayment;
}

base::Result<std::vector<Posting>> postings_of(const Entry& entry) {
  if (entry.kind == entry_kind::kPayment) {
    const auto payment = payment_from(entry.body);
    if (!payment) return tl::unexpected<base::Error>(payment.error());
    return postings_of(*payment);
  }
  if (!is_change(entry)) return std::vector<Posting>();
  const auto change = change_of(entry);
  if (!change) return tl::unexpected<base::Error>(change.error());
  return postings_of(change->fact, change->before, change->after);
}

base::Result<Change> change_of(const Entry& entry) {
  if (entry.kind == entry_kind::kCorrection) {
    auto correction = correction_from(entry.body);
    if (!correction) return tl::unexpected<base::Error>(correction.error());
    return Change{std::move(correction->fact), correction->before, correction->after, correction->entry,
                  std::move(correction->reason)};
  }
  auto fact = fact_from(entry.body);
  if (!fact) return tl::unexpected<base::Error>(fact.error());
  const auto amount = entry.kind == entry_kind::kSegment ? amount_of(*fact, entry.clipped) : 0;
  return Change{*std::move(fact), 0, amount, 0, ""};
}

std::vector<Part> parts_of(const Entry& entry, const Change& change, const ClosedMonths& closed) {
  if (entry.kind == entry_kind::kCorrection)
    return {{open_month(entry.entered, closed), entry.entered, entry.entered, change.before, change.after,
             false}};
  if (entry.kind != entry_kind::kSegment) return {};
  const auto& fact = change.fact;
  std::vector<Part> parts;
  for (auto from = fact.from; from < fact.to;) {
    Part part{base::month_of(from), from, 0, 0, 0, false};
    part.to = std::min(fact.to, part.month.end);
    part.before = amount_until(fact, entry.clipped, from);
    part.after = amount_until(fact, entry.clipped, part.to);
    part.late = closed.contains(part.month.name);
    if (part.late) part.month = open_month(entry.entered, closed);
    from = part.to;
    parts.push_back(std::move(part));
  }
  return parts;
}

}  // namespace gpupool::ledger
