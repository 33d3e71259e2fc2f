// SPDX-License-Identifier: Apache-2.0
#include "serve/spending.h"

#include "books/closing.h"

namespace gpupool::ledger {

base::Result<void> Spending::read(Books& books) {
  return each_change(books, last_, closed_, [&](const Entry& entry, const Change& change) {
    add(entry, change);
    last_ = entry.seq;
  });
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
