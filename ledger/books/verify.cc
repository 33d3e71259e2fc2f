// SPDX-License-Identifier: Apache-2.0
#include "books/verify.h"

#include <algorithm>
#include <map>
#include <utility>

#include "books/change.h"
#include "books/closing.h"
#include "books/correction.h"
#include "books/payment.h"

namespace gpupool::ledger {
namespace {

// In an order of their own: the rows of an entry have none.
template <class Row>
std::vector<Row> sorted(std::vector<Row> rows) {
  std::ranges::sort(rows);
  return rows;
}

// What is stored with an entry.
struct StoredRows {
  std::vector<Posting> postings;
  std::vector<Hold> holds;
};

class Check {
 public:
  Check(Books& books, const std::optional<Head>& known) : books_(books), known_(known) {}

  void look(const Page& page) {
    for (const auto& posting : page.postings) sums_[posting.currency] += posting.amount;
    StoredRows rows;
    if (page.entry) {
      look_at_chain(*page.entry);
      rows = look_at_content(*page.entry);
    }
    if (sorted(std::move(rows.postings)) != sorted(page.postings))
      note(page.seq, "its postings are not those that it makes");
    if (sorted(std::move(rows.holds)) != sorted(page.holds))
      note(page.seq, "its times of nodes are not those that it makes");
  }

  Verdict end() && {
    for (const auto& [currency, sum] : sums_) {
      if (sum != 0)
        note(0, "all postings in " + currency + " add up to " + base::micros_text(sum) + ", not to 0");
    }
    if (known_ && known_->seq > verdict_.head.seq)
      note(0, "the books end with entry " + std::to_string(verdict_.head.seq) + ", the given head is entry " +
                  std::to_string(known_->seq) + ": later entries were cut off");
    return std::move(verdict_);
  }

 private:
  void look_at_chain(const Entry& entry) {
    ++verdict_.entries;
    const auto first_missing = verdict_.head.seq + 1;
    if (entry.seq == first_missing + 1) {
      note(entry.seq, "entry " + std::to_string(first_missing) + " is missing before it");
    } else if (entry.seq != first_missing) {
      note(entry.seq, "entries " + std::to_string(first_missing) + " to " + std::to_string(entry.seq - 1) +
                          " are missing before it");
    }
    if (entry.hash != hash_of(entry, verdict_.head.hash))
      note(entry.seq, "its hash does not follow from it and the entry before: one of them was changed");
    verdict_.head = {entry.seq, entry.hash};
    if (known_ && known_->seq == entry.seq && known_->hash != entry.hash)
      note(entry.seq, "it is not the entry that the given head names");
  }
  // Returns the rows that the entry makes.
  StoredRows look_at_content(const Entry& entry) {
    if (entry.kind == entry_kind::kClosing) {
      look_at_closing(entry);
      return {};
    }
    if (entry.kind == entry_kind::kPayment) return look_at_payment(entry);
    const auto change = change_of(entry);
    if (!change) {
      note(entry.seq, "it cannot be read");
      return {};
    }
    months_.add(entry, *change, closed_);
    if (entry.kind == entry_kind::kDisputed) {
      ++verdict_.disputed;
      return {};
    }
    StoredRows rows{postings_of(change->fact, change->before, change->after), {}};
    if (entry.kind == entry_kind::kCorrection) {
      look_at_correction(entry);
      return rows;
    }
    const auto& fact = change->fact;
    if (entry.key != fact.key()) note(entry.seq, "its key is not that of its content");
    if (cost_until(fact, fact.to) != fact.cost)
      note(entry.seq, "seconds, GPUs and price do not make its cost");
    rows.holds = holds_of(fact);
    return rows;
  }
  StoredRows look_at_payment(const Entry& entry) {
    const auto payment = payment_from(entry.body);
    if (!payment) {
      note(entry.seq, "it cannot be read");
      return {};
    }
    if (entry.key != payment->key()) note(entry.seq, "its key is not that of its content");
    return {postings_of(*payment), {}};
  }
  void look_at_correction(const Entry& entry) {
    const auto correction = correction_from(entry.body);
    if (!correction) return note(entry.seq, "it cannot be read");
    if (entry.key != correction->key()) note(entry.seq, "its key is not that of its content");
    auto& last = corrected_[correction->entry];
    if (last.number == 0) last = original(correction->entry, entry.seq);
    if (correction->fact != last.fact || correction->before != last.before ||
        correction->number != last.number + 1 || correction->after < 0)
      note(entry.seq, "it does not follow from entry " + std::to_string(correction->entry) +
                          " and its earlier corrections");
    last = {correction->entry, correction->number, correction->after, 0, "", last.fact};
  }
  // What a first correction begins with; of no entry: what no correction can have.
  Correction original(std::int64_t seq, std::int64_t correction) {
    const auto entry = books_.entry(seq);
    if (!entry || !*entry || seq >= correction) return {};
    const auto change = change_of(**entry);
    const bool has_cost = (*entry)->kind == entry_kind::kSegment || (*entry)->kind == entry_kind::kDisputed;
    if (!change || !has_cost) return {};
    return {seq, 0, change->after, 0, "", change->fact};
  }
  void look_at_closing(const Entry& entry) {
    const auto closing = closing_from(entry.body);
    if (!closing) return note(entry.seq, "it cannot be read");
    if (entry.key != closing->key()) note(entry.seq, "its key is not that of its content");
    if (closed_.contains(closing->month)) note(entry.seq, closing->month + " was closed before");
    if (months_.of(closing->month) != closing->totals)
      note(entry.seq, "its totals are not those of the entries before it");
    closed_.emplace(closing->month, entry.seq);
  }
  void note(std::int64_t seq, std::string what) {
    if (verdict_.findings.size() < kMostFindings) verdict_.findings.push_back({seq, std::move(what)});
  }

  Books& books_;
  const std::optional<Head>& known_;
  Verdict verdict_;
  MonthTotals months_;
  ClosedMonths closed_;
  std::map<std::int64_t, Correction>
      corrected_;  // by entry: what the last correction left; before: the amount
  std::map<std::string, base::Micros> sums_;
};

}  // namespace

base::Result<Verdict> verify(Books& books, const std::optional<Head>& known) {
  const auto damage = books.integrity();
  if (!damage) return tl::unexpected<base::Error>(damage.error());
  if (!damage->empty()) return Verdict{{{0, "the file is damaged: " + *damage}}, 0, 0, {}};
  Check check(books, known);
  const auto read = books.each_page([&](const Page& page) { check.look(page); });
  if (!read) return tl::unexpected<base::Error>(read.error());
  return std::move(check).end();
}

}  // namespace gpupool::ledger
