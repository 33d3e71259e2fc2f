// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "books/database.h"
#include "books/entry.h"
#include "books/fact.h"

namespace gpupool::ledger {

// The end of the chain: who knows it can tell later whether entries were cut off.
struct Head {
  std::int64_t seq = 0;
  std::string hash;
  bool operator==(const Head&) const = default;
};

// How many seconds of one node may be in two segments because the clocks of two operators differ. The segment
// that is entered later is not charged for them.
inline constexpr std::int64_t kClockSeconds = 10;

// The time for which a whole node was held. Unix seconds; `to` is not part of it.
struct Hold {
  std::string node;
  std::int64_t from = 0;
  std::int64_t to = 0;
  auto operator<=>(const Hold&) const = default;
};

// The rows of one number.
struct Page {
  std::int64_t seq = 0;
  std::optional<Entry> entry = {};
  std::vector<Posting> postings = {};
  std::vector<Hold> holds = {};
};

// The holds that an entry of this fact has: of whole nodes only.
std::vector<Hold> holds_of(const Fact& fact);

// The books: double entry in a chain of hashes, in a database. Facts are entered once, by their key,
// however often they come and in whatever order. Nothing is changed or deleted. One writer at a time.
class Books {
 public:
  // where: as open_database() takes it. Makes the tables, and the file, if they are missing. clock: outlives
  // this.
  static base::Result<std::unique_ptr<Books>> open(const std::string& where, const base::Clock& clock);
  // To add to books that exist, also beside a process that has them open.
  static base::Result<std::unique_ptr<Books>> open_existing(const std::string& where,
                                                            const base::Clock& clock);
  // For readers, beside a writer.
  static base::Result<std::unique_ptr<Books>> open_to_read(const std::string& where,
                                                           const base::Clock& clock);

  // Enters those that are new, in one transaction that is on the disk when it returns. Returns how many
  // entries it made. After an error nothing of it is entered.
  base::Result<std::size_t> enter(std::span<const Fact> facts);
  // Enters what `make` returns, in one transaction that is on the disk when this returns, and returns it with
  // its number and hash. make: may read the books, to which nothing is added meanwhile; an error of it is
  // returned, and nothing is entered.
  base::Result<Entry> add(const std::function<base::Result<Entry>()>& make);

  base::Result<Head> head();
  // How many entries are disputed.
  base::Result<std::int64_t> disputed();
  // Visits the entries after the one of this number, in their order, until visit() returns false. mentioning:
  // a text as of mention_of(), or empty. With it, entries without that text are skipped, except closings;
  // some of the others may be about another name, because databases differ in how they compare.
  base::Result<void> each_entry(const std::function<bool(const Entry&)>& visit, std::int64_t after = 0,
                                const std::string& mentioning = "");
  // The corrections, closings and payments, in their order, until visit() returns false.
  base::Result<void> each_amendment(const std::function<bool(const Entry&)>& visit);
  base::Result<std::optional<Entry>> entry(std::int64_t seq);
  // True if the entry of this head is in the books as it was; also for the head before the first entry.
  base::Result<bool> contains(const Head& head);
  // All rows that are stored with one number, also where some are missing, in the order of the numbers. Holds
  // one of them in memory.
  base::Result<void> each_page(const std::function<void(const Page&)>& visit);
  // Of the database, for people.
  std::string name() const { return database_->name(); }
  base::Result<std::string> integrity() { return database_->integrity(); }

 private:
  Books(std::unique_ptr<Database> database, const base::Clock& clock)
      : database_(std::move(database)), clock_(clock) {}
  static base::Result<std::unique_ptr<Books>> to_write(std::unique_ptr<Database> database,
                                                       const base::Clock& clock);
  base::Result<void> prepare_writes();
  base::Result<void> each(const std::string& where, const std::function<bool(const Entry&)>& visit);
  base::Result<std::optional<Entry>> find(const std::string& key);
  // How many of the segment's node-seconds others have, and the name of one of these nodes.
  struct Overlap {
    std::int64_t most = 0;  // of one node
    std::int64_t sum = 0;
    std::string node;
  };
  base::Result<Overlap> overlap_of(const Fact& fact);
  base::Result<std::optional<Entry>> entry_for(const Fact& fact);
  // Gives it its place in the chain, after `head`.
  base::Result<void> store(Entry& entry, const Head& head);
  base::Result<void> store_rows(const Entry& entry);
  base::Result<void> store_postings(std::int64_t seq, const std::vector<Posting>& postings);

  std::unique_ptr<Database> database_;
  const base::Clock& clock_;
  std::unique_ptr<Query> find_;
  std::unique_ptr<Query> overlap_;
  std::unique_ptr<Query> add_entry_;
  std::unique_ptr<Query> add_posting_;
  std::unique_ptr<Query> add_hold_;
};

}  // namespace gpupool::ledger
