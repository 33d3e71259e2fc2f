// SPDX-License-Identifier: Apache-2.0
#include "serve/spending.h"

#include <algorithm>

#include "base/month.h"

namespace gpupool::ledger {

base::Result<void> Spending::read(Books& books) {
  base::Result<void> understood;
  auto all = books.each_entry(
      [&](const Entry& entry) {
        if (entry.kind == entry_kind::kSegment) {
          const auto fact = fact_from(entry.body);
          if (!fact) understood = tl::unexpected<base::Error>(fact.error());
          if (!fact) return false;
          add(entry, *fact);
        }
        last_ = entry.seq;
        return true;
      },
      last_);
  return understood ? all : understood;
}

void Spending::add(const Entry& entry, const Fact& fact) {
  auto& sums = sums_[{fact.ns, fact.currency}];
  sums[""] += amount_of(fact, entry.clipped);
  for (auto from = fact.from; from < fact.to;) {
    const auto month = base::month_of(from);
    const auto to = std::min(fact.to, month.end);
    sums[month.name] += amount_until(fact, entry.clipped, to) - amount_until(fact, entry.clipped, from);
    from = to;
  }
}

base::Micros Spending::of(const std::string& ns, const std::string& currency,
                          const std::string& month) const {
  const auto sums = sums_.find({ns, currency});
  if (sums == sums_.end()) return 0;
  const auto sum = sums->second.find(month);
  return sum == sums->second.end() ? 0 : sum->second;
}

}  // namespace gpupool::ledger
