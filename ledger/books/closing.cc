// SPDX-License-Identifier: Apache-2.0
#include "books/closing.h"

#include <nlohmann/json.hpp>

namespace gpupool::ledger {

std::string to_text(const Closing& closing) {
  const nlohmann::json fields = {{"month", closing.month}, {"totals", closing.totals}};
  return fields.dump();  // keys are in order
}

base::Result<Closing> closing_from(const std::string& text) { return base::json::read<Closing>(text); }

base::Result<void> MonthTotals::add(const Entry& entry) {
  if (entry.kind == entry_kind::kClosing) {
    const auto closing = closing_from(entry.body);
    if (!closing) return tl::unexpected<base::Error>(closing.error());
    closed_.insert(closing->month);
    return {};
  }
  const auto change = change_of(entry);
  if (!change) return tl::unexpected<base::Error>(change.error());
  add(entry, *change);
  return {};
}

void MonthTotals::add(const Entry& entry, const Change& change) {
  for (const auto& part : parts_of(entry, change, closed_))
    totals_[part.month.name][change.fact.currency] += part.after - part.before;
}

std::map<std::string, base::Micros> MonthTotals::of(const std::string& month) const {
  const auto totals = totals_.find(month);
  if (totals == totals_.end()) return {};
  auto found = totals->second;
  std::erase_if(found, [](const auto& total) { return total.second == 0; });
  return found;
}

base::Result<Entry> close_month(Books& books, const base::Month& month, std::int64_t now) {
  if (now < month.end) return base::fail(base::ErrorCode::kInvalidArgument, month.name + " has not ended");
  return books.add([&]() -> base::Result<Entry> {
    MonthTotals totals;
    base::Result<void> understood;
    const auto all = books.each_entry([&](const Entry& entry) {
      understood = totals.add(entry);
      return understood.has_value();
    });
    if (!all) return tl::unexpected<base::Error>(all.error());
    if (!understood) return tl::unexpected<base::Error>(understood.error());
    if (totals.closed().contains(month.name))
      return base::fail(base::ErrorCode::kInvalidArgument, month.name + " is closed already");
    const Closing closing{month.name, totals.of(month.name)};
    return Entry{0, closing.key(), entry_kind::kClosing, to_text(closing), "", 0, 0, ""};
  });
}

}  // namespace gpupool::ledger
