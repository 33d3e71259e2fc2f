// SPDX-License-Identifier: Apache-2.0
#include "books/closing.h"

#include <nlohmann/json.hpp>

namespace gpupool::ledger {

std::string to_text(const Closing& closing) {
  const nlohmann::json fields = {{"month", closing.month}, {"totals", closing.totals}};
  return fields.dump();  // keys are in order
}

base::Result<Closing> closing_from(const std::string& text) { return base::json::read<Closing>(text); }

base::Result<void> each_change(Books& books, std::int64_t after, ClosedMonths& closed,
                               const std::function<void(const Entry&, const Change&)>& visit,
                               const std::string& mentioning) {
  base::Result<void> understood;
  auto all = books.each_entry(
      [&](const Entry& entry) {
        if (entry.kind == entry_kind::kClosing) {
          const auto closing = closing_from(entry.body);
          if (!closing) understood = tl::unexpected<base::Error>(closing.error());
          if (closing) closed.emplace(closing->month, entry.seq);
        } else if (is_change(entry)) {
          const auto change = change_of(entry);
          if (!change) understood = tl::unexpected<base::Error>(change.error());
          if (change) visit(entry, *change);
        }
        return understood.has_value();
      },
      after, mentioning);
  return understood ? all : understood;
}

void MonthTotals::add(const Entry& entry, const Change& change, const ClosedMonths& closed) {
  for (const auto& part : parts_of(entry, change, closed))
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
    ClosedMonths closed;
    MonthTotals totals;
    const auto all = each_change(books, 0, closed, [&](const Entry& entry, const Change& change) {
      totals.add(entry, change, closed);
    });
    if (!all) return tl::unexpected<base::Error>(all.error());
    if (closed.contains(month.name))
      return base::fail(base::ErrorCode::kInvalidArgument, month.name + " is closed already");
    const Closing closing{month.name, totals.of(month.name)};
    return Entry{0, closing.key(), entry_kind::kClosing, to_text(closing), "", 0, 0, ""};
  });
}

}  // namespace gpupool::ledger
