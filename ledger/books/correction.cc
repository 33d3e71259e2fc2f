// SPDX-License-Identifier: Apache-2.0
#include "books/correction.h"

#include <utility>

#include <nlohmann/json.hpp>

#include "books/change.h"

namespace gpupool::ledger {
namespace {

base::Result<Correction> begin_of(const std::optional<Entry>& entry, std::int64_t seq) {
  if (!entry) return base::fail(base::ErrorCode::kNotFound, "the books have no entry " + std::to_string(seq));
  if (entry->kind != entry_kind::kSegment && entry->kind != entry_kind::kDisputed)
    return base::fail(base::ErrorCode::kInvalidArgument,
                      "entry " + std::to_string(seq) + " is a " + entry->kind +
                          "; only segments and disputed entries can be corrected");
  auto change = change_of(*entry);
  if (!change) return tl::unexpected<base::Error>(change.error());
  return Correction{seq, 1, change->after, change->after, "", std::move(change->fact)};
}

// With what earlier corrections made of it.
base::Result<Correction> last_of(Books& books, std::int64_t seq) {
  const auto entry = books.entry(seq);
  if (!entry) return tl::unexpected<base::Error>(entry.error());
  auto last = begin_of(*entry, seq);
  if (!last) return last;
  base::Result<void> understood;
  const auto all = books.each_amendment([&](const Entry& other) {
    if (other.kind != entry_kind::kCorrection) return true;
    auto correction = correction_from(other.body);
    if (!correction) understood = tl::unexpected<base::Error>(correction.error());
    if (correction && correction->entry == seq) {
      last->number = correction->number + 1;
      last->before = correction->after;
    }
    return understood.has_value();
  });
  if (!all) return tl::unexpected<base::Error>(all.error());
  if (!understood) return tl::unexpected<base::Error>(understood.error());
  return last;
}

}  // namespace

std::string to_text(const Correction& correction) {
  const nlohmann::json fields = {
      {"entry", correction.entry},   {"number", correction.number},
      {"before", correction.before}, {"after", correction.after},
      {"reason", correction.reason}, {"fact", nlohmann::json::parse(to_text(correction.fact))}};
  return fields.dump();  // keys are in order
}

base::Result<Correction> correction_from(const std::string& text) {
  return base::json::read<Correction>(text);
}

base::Result<Entry> correct(Books& books, std::int64_t entry, base::Micros amount,
                            const std::string& reason) {
  return books.add([&]() -> base::Result<Entry> {
    auto correction = last_of(books, entry);
    if (!correction) return tl::unexpected<base::Error>(correction.error());
    if (correction->before == amount)
      return base::fail(base::ErrorCode::kInvalidArgument, "entry " + std::to_string(entry) + " costs " +
                                                               base::micros_text(amount) + " already");
    correction->after = amount;
    correction->reason = reason;
    return Entry{0, correction->key(), entry_kind::kCorrection, to_text(*correction), "", 0, 0, ""};
  });
}

}  // namespace gpupool::ledger
