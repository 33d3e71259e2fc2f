// SPDX-License-Identifier: Apache-2.0
#include "books/verify.h"

#include <algorithm>
#include <map>
#include <utility>

namespace gpupool::ledger {
namespace {

// In an order of their own: the rows of an entry have none.
template <class Row>
std::vector<Row> sorted(std::vector<Row> rows) {
  std::ranges::sort(rows);
  return rows;
}

class Check {
 public:
  explicit Check(const std::optional<Head>& known) : known_(known) {}

  void look(const Page& page) {
    for (const auto& posting : page.postings) sums_[posting.currency] += posting.amount;
    std::vector<Posting> postings;
    std::vector<Hold> holds;
    if (page.entry) {
      look_at_chain(*page.entry);
      const auto fact = fact_from(page.entry->body);
      if (!fact) {
        note(page.seq, "it cannot be read");
      } else if (page.entry->kind == entry_kind::kDisputed) {
        ++verdict_.disputed;
      } else {
        if (page.entry->key != fact->key()) note(page.seq, "its key is not that of its content");
        if (cost_until(*fact, fact->to) != fact->cost)
          note(page.seq, "seconds, GPUs and price do not make its cost");
        postings = postings_of(*fact, page.entry->clipped);
        holds = holds_of(*fact);
      }
    }
    if (sorted(std::move(postings)) != sorted(page.postings))
      note(page.seq, "its postings are not those that it makes");
    if (sorted(std::move(holds)) != sorted(page.holds))
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
  void note(std::int64_t seq, std::string what) {
    if (verdict_.findings.size() < kMostFindings) verdict_.findings.push_back({seq, std::move(what)});
  }

  const std::optional<Head>& known_;
  Verdict verdict_;
  std::map<std::string, base::Micros> sums_;
};

}  // namespace

base::Result<Verdict> verify(Books& books, const std::optional<Head>& known) {
  const auto damage = books.integrity();
  if (!damage) return tl::unexpected<base::Error>(damage.error());
  if (!damage->empty()) return Verdict{{{0, "the file is damaged: " + *damage}}, 0, 0, {}};
  Check check(known);
  const auto read = books.each_page([&](const Page& page) { check.look(page); });
  if (!read) return tl::unexpected<base::Error>(read.error());
  return std::move(check).end();
}

}  // namespace gpupool::ledger
