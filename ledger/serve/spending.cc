// SPDX-License-Identifier: Apache-2.0
#include "serve/spending.h"

#include "books/closing.h"

namespace gpupool::ledger {

base::Result<void> Spending::read(Books& books) {
  base::Result<void> understood;
  auto all = books.each_entry(
      [&](const Entry& entry) {
        if (entry.kind == entry_kind::kClosing) {
          const auto closing = closing_from(entry.body);
          if (!closing) understood = tl::unexpected<base::Error>(closing.error());
          if (closing) closed_.insert(closing->month);
        } else {
          const auto change = change_of(entry);
          if (!change) understood = tl::unexpected<base::Error>(change.error());
          if (change) add(entry, *change);
        }
        if (understood) last_ = entry.seq;
        return understood.has_value();
      },
      last_);
  return understood ? all : understood;
}

void Spending::add(const Entry& entry, const Change& change) {
  auto& sums = sums_[{change.fact.ns, change.fact.currency}];
  sums[""] += change.after - change.before;
  for (const auto& part : parts_of(entry, change, closed_)) sums[part.month.name] += part.after - part.before;
}

base::Micros Spending::of(const std::string& ns, const std::string& currency,
                          const std::string& month) const {
  const auto sums = sums_.find({ns, currency});
  if (sums == sums_.end()) return 0;
  const auto sum = sums->second.find(month);
  return sum == sums->second.end() ? 0 : sum->second;
}

}  // namespace gpupool::ledger
