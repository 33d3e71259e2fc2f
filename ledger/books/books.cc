// SPDX-License-Identifier: Apache-2.0
#include "books/books.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "base/unix_seconds.h"
#include "books/change.h"
#include "books/transaction.h"

namespace gpupool::ledger {
namespace {

// As the database writes them.
std::string tables(const Database& database) {
  const std::string integer = database.integer() + " NOT NULL";
  const std::string end = ")" + database.end_of_table() + ";\n";
  return "CREATE TABLE IF NOT EXISTS entry(seq " + database.integer() +
         " PRIMARY KEY, key TEXT NOT NULL UNIQUE, kind TEXT NOT NULL, body TEXT NOT NULL, remark TEXT NOT "
         "NULL, clipped " +
         integer + ", entered " + integer + ", hash TEXT NOT NULL" + end +
         "CREATE TABLE IF NOT EXISTS posting(seq " + integer +
         " REFERENCES entry(seq), account TEXT NOT NULL, currency TEXT NOT NULL, amount " + integer + end +
         "CREATE TABLE IF NOT EXISTS hold(seq " + integer +
         " REFERENCES entry(seq), node TEXT NOT NULL, since " + integer + ", until " + integer + end;
}

constexpr char kIndexes[] = R"(
CREATE INDEX IF NOT EXISTS disputed_entry ON entry(kind) WHERE kind = 'disputed';
CREATE INDEX IF NOT EXISTS amendment ON entry(seq) WHERE kind IN ('correction', 'closing');
CREATE INDEX IF NOT EXISTS posting_of ON posting(seq);
CREATE INDEX IF NOT EXISTS hold_of ON hold(node, until);
)";
constexpr char kEntryFields[] = "SELECT seq, key, kind, body, remark, clipped, entered, hash FROM entry ";

Entry read_entry(const Query& row) {
  return {row.number(0), row.text(1),   row.text(2),   row.text(3),
          row.text(4),   row.number(5), row.number(6), row.text(7)};
}

// The rows of a table in order of their entries.
class Rows {
 public:
  static constexpr std::int64_t kEnd = std::numeric_limits<std::int64_t>::max();

  static base::Result<Rows> of(Database& database, const std::string& sql) {
    auto query = database.select(sql);
    if (!query) return tl::unexpected<base::Error>(query.error());
    Rows rows(*std::move(query));
    rows.next();
    return rows;
  }
  std::int64_t seq() const { return seq_; }  // of this row; kEnd: there is none
  const Query& row() const { return *query_; }
  // An error ends the rows.
  void next() {
    const auto stepped = query_->step();
    if (!stepped) error_ = stepped.error();
    seq_ = stepped && *stepped ? query_->number(0) : kEnd;
  }
  // Whether all rows were read, as far as they were.
  base::Result<void> end() const {
    if (!error_) return {};
    return tl::unexpected<base::Error>(*error_);
  }

 private:
  explicit Rows(std::unique_ptr<Query> query) : query_(std::move(query)) {}
  std::unique_ptr<Query> query_;
  std::int64_t seq_ = kEnd;
  std::optional<base::Error> error_;
};

}  // namespace

std::vector<Hold> holds_of(const Fact& fact) {
  std::vector<Hold> holds;
  if (!fact.whole_nodes()) return holds;
  for (const auto& node : fact.nodes) holds.push_back({node, fact.from, fact.to});
  return holds;
}

base::Result<std::unique_ptr<Books>> Books::open(const std::string& where, const base::Clock& clock) {
  auto database = open_database(where, Access::kCreate);
  if (!database) return tl::unexpected<base::Error>(database.error());
  for (const auto& sql : {tables(**database), std::string(kIndexes)}) {
    if (auto set = (*database)->run(sql); !set) return tl::unexpected<base::Error>(set.error());
  }
  return to_write(*std::move(database), clock);
}

base::Result<std::unique_ptr<Books>> Books::open_existing(const std::string& where,
                                                          const base::Clock& clock) {
  auto database = open_database(where, Access::kReadWrite);
  if (!database) return tl::unexpected<base::Error>(database.error());
  return to_write(*std::move(database), clock);
}

base::Result<std::unique_ptr<Books>> Books::to_write(std::unique_ptr<Database> database,
                                                     const base::Clock& clock) {
  std::unique_ptr<Books> books(new Books(std::move(database), clock));
  if (auto prepared = books->prepare_writes(); !prepared)
    return tl::unexpected<base::Error>(prepared.error());
  return books;
}

base::Result<std::unique_ptr<Books>> Books::open_to_read(const std::string& where, const base::Clock& clock) {
  auto database = open_database(where, Access::kReadOnly);
  if (!database) return tl::unexpected<base::Error>(database.error());
  return std::unique_ptr<Books>(new Books(*std::move(database), clock));
}

base::Result<void> Books::prepare_writes() {
  const std::pair<std::unique_ptr<Query>*, std::string> all[] = {
      {&find_, kEntryFields + std::string("WHERE key = ?1")},
      {&overlap_,
       "SELECT sum(CASE WHEN until < ?3 THEN until ELSE ?3 END - CASE WHEN since > ?2 THEN since ELSE ?2 "
       "END) "
       "FROM hold WHERE node = ?1 AND until > ?2 AND since < ?3"},
      {&add_entry_, "INSERT INTO entry VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)"},
      {&add_posting_, "INSERT INTO posting VALUES(?1, ?2, ?3, ?4)"},
      {&add_hold_, "INSERT INTO hold VALUES(?1, ?2, ?3, ?4)"}};
  for (const auto& [statement, sql] : all) {
    auto prepared = database_->prepare(sql);
    if (!prepared) return tl::unexpected<base::Error>(prepared.error());
    *statement = *std::move(prepared);
  }
  return {};
}

base::Result<std::optional<Entry>> Books::find(const std::string& key) {
  const auto row = find_->bind(1, key).step();
  std::optional<Entry> found;
  if (row && *row) found = read_entry(*find_);
  find_->reset();
  if (!row) return tl::unexpected<base::Error>(row.error());
  return found;
}

base::Result<Books::Overlap> Books::overlap_of(const Fact& fact) {
  Overlap overlap;
  for (const auto& hold : holds_of(fact)) {
    const auto row = overlap_->bind(1, hold.node).bind(2, hold.from).bind(3, hold.to).step();
    const auto seconds = row && *row ? overlap_->number(0) : 0;
    overlap_->reset();
    if (!row) return tl::unexpected<base::Error>(row.error());
    overlap.sum += seconds;
    if (seconds > overlap.most) overlap = {seconds, overlap.sum, hold.node};
  }
  return overlap;
}

// Nothing: it is known.
base::Result<std::optional<Entry>> Books::entry_for(const Fact& fact) {
  Entry entry{0, fact.key(), entry_kind::kSegment, to_text(fact), "", 0, 0, ""};
  const auto dispute = [&](const std::string& why) {
    entry.kind = entry_kind::kDisputed;
    entry.remark = why;
    return entry;
  };
  const auto known = find(entry.key);
  if (!known) return tl::unexpected<base::Error>(known.error());
  if (*known) {
    if ((*known)->body == entry.body) return std::nullopt;
    // Once for each content: it comes again whenever the job is read.
    entry.key += "/" + hash_of({0, "", "", entry.body, "", 0, 0, ""}, kNoHash).substr(0, 16);
    const auto disputed = find(entry.key);
    if (!disputed) return tl::unexpected<base::Error>(disputed.error());
    if (*disputed) return std::nullopt;
    return dispute("entry " + std::to_string((*known)->seq) + " has the same key and other content");
  }
  if (fact.to <= fact.from || fact.nodes.empty()) return dispute("it is of no time, or of no node");
  if (cost_until(fact, fact.to) != fact.cost) return dispute("seconds, GPUs and price do not make this cost");
  const auto overlap = overlap_of(fact);
  if (!overlap) return tl::unexpected<base::Error>(overlap.error());
  if (overlap->most > kClockSeconds)
    return dispute("node " + overlap->node + " was held by another job for " + std::to_string(overlap->most) +
                   " s of this time");
  entry.clipped = overlap->sum;
  if (entry.clipped > 0)
    entry.remark =
        std::to_string(entry.clipped) + " node-seconds are in other entries too and are not charged again";
  return entry;
}

base::Result<void> Books::store(Entry& entry, const Head& head) {
  entry.seq = head.seq + 1;
  entry.entered = base::unix_seconds(clock_.wall());
  entry.hash = hash_of(entry, head.hash);
  add_entry_->bind(1, entry.seq).bind(2, entry.key).bind(3, entry.kind).bind(4, entry.body);
  if (auto added = execute(add_entry_->bind(5, entry.remark)
                               .bind(6, entry.clipped)
                               .bind(7, entry.entered)
                               .bind(8, entry.hash));
      !added)
    return added;
  return store_rows(entry);
}

base::Result<void> Books::store_rows(const Entry& entry) {
  if (entry.kind != entry_kind::kSegment) {
    const auto postings = postings_of(entry);
    return postings ? store_postings(entry.seq, *postings) : tl::unexpected<base::Error>(postings.error());
  }
  const auto change = change_of(entry);
  if (!change) return tl::unexpected<base::Error>(change.error());
  const auto& fact = change->fact;
  if (auto stored = store_postings(entry.seq, postings_of(fact, change->before, change->after)); !stored)
    return stored;
  for (const auto& hold : holds_of(fact)) {
    if (auto added =
            execute(add_hold_->bind(1, entry.seq).bind(2, hold.node).bind(3, hold.from).bind(4, hold.to));
        !added)
      return added;
  }
  return {};
}

base::Result<void> Books::store_postings(std::int64_t seq, const std::vector<Posting>& postings) {
  for (const auto& posting : postings) {
    add_posting_->bind(1, seq).bind(2, posting.account).bind(3, posting.currency);
    if (auto added = execute(add_posting_->bind(4, posting.amount)); !added) return added;
  }
  return {};
}

base::Result<std::size_t> Books::enter(std::span<const Fact> facts) {
  Transaction transaction(*database_);
  if (!transaction.begun()) return tl::unexpected<base::Error>(transaction.begun().error());
  auto end = head();
  if (!end) return tl::unexpected<base::Error>(end.error());
  std::size_t made = 0;
  for (const auto& fact : facts) {
    auto entry = entry_for(fact);
    if (!entry) return tl::unexpected<base::Error>(entry.error());
    if (!*entry) continue;
    if (auto stored = store(**entry, *end); !stored) return tl::unexpected<base::Error>(stored.error());
    *end = {(*entry)->seq, (*entry)->hash};
    ++made;
  }
  if (made == 0) return made;
  if (auto committed = transaction.commit(); !committed)
    return tl::unexpected<base::Error>(committed.error());
  return made;
}

base::Result<Entry> Books::add(const std::function<base::Result<Entry>()>& make) {
  Transaction transaction(*database_);
  if (!transaction.begun()) return tl::unexpected<base::Error>(transaction.begun().error());
  const auto end = head();
  if (!end) return tl::unexpected<base::Error>(end.error());
  auto entry = make();
  if (!entry) return entry;
  if (auto stored = store(*entry, *end); !stored) return tl::unexpected<base::Error>(stored.error());
  if (auto committed = transaction.commit(); !committed)
    return tl::unexpected<base::Error>(committed.error());
  return entry;
}

base::Result<Head> Books::head() {
  auto last = database_->prepare("SELECT seq, hash FROM entry ORDER BY seq DESC LIMIT 1");
  if (!last) return tl::unexpected<base::Error>(last.error());
  const auto row = (*last)->step();
  if (!row) return tl::unexpected<base::Error>(row.error());
  return *row ? Head{(*last)->number(0), (*last)->text(1)} : Head{0, std::string(kNoHash)};
}

base::Result<bool> Books::contains(const Head& head) {
  if (head.seq <= 0) return true;
  const auto found = entry(head.seq);
  if (!found) return tl::unexpected<base::Error>(found.error());
  return *found && (*found)->hash == head.hash;
}

base::Result<std::int64_t> Books::disputed() {
  auto count = database_->prepare("SELECT count(*) FROM entry WHERE kind = 'disputed'");
  if (!count) return tl::unexpected<base::Error>(count.error());
  const auto row = (*count)->step();
  if (!row) return tl::unexpected<base::Error>(row.error());
  return (*count)->number(0);
}

base::Result<void> Books::each_entry(const std::function<bool(const Entry&)>& visit, std::int64_t after,
                                     const std::string& mentioning) {
  std::string where = "seq > " + std::to_string(after);
  if (!mentioning.empty()) where += " AND (kind = 'closing' OR body LIKE '%" + mentioning + "%')";
  return each(where, visit);
}

base::Result<void> Books::each_amendment(const std::function<bool(const Entry&)>& visit) {
  return each("kind IN ('correction', 'closing', 'payment')", visit);
}

base::Result<std::optional<Entry>> Books::entry(std::int64_t seq) {
  std::optional<Entry> found;
  const auto read = each("seq = " + std::to_string(seq), [&](const Entry& entry) {
    found = entry;
    return true;
  });
  if (!read) return tl::unexpected<base::Error>(read.error());
  return found;
}

base::Result<void> Books::each(const std::string& where, const std::function<bool(const Entry&)>& visit) {
  auto rows = Rows::of(*database_, kEntryFields + ("WHERE " + where) + " ORDER BY seq");
  if (!rows) return tl::unexpected<base::Error>(rows.error());
  while (rows->seq() != Rows::kEnd && visit(read_entry(rows->row()))) rows->next();
  return rows->end();
}

base::Result<void> Books::each_page(const std::function<void(const Page&)>& visit) {
  auto entries = Rows::of(*database_, kEntryFields + std::string("ORDER BY seq"));
  auto postings = Rows::of(*database_, "SELECT seq, account, currency, amount FROM posting ORDER BY seq");
  auto holds = Rows::of(*database_, "SELECT seq, node, since, until FROM hold ORDER BY seq");
  for (auto* rows : {&entries, &postings, &holds}) {
    if (!*rows) return tl::unexpected<base::Error>(rows->error());
  }
  for (;;) {
    Page page;
    page.seq = std::min({entries->seq(), postings->seq(), holds->seq()});
    if (page.seq == Rows::kEnd) break;
    for (; entries->seq() == page.seq; entries->next()) page.entry = read_entry(entries->row());
    for (; postings->seq() == page.seq; postings->next())
      page.postings.push_back({postings->row().text(1), postings->row().text(2), postings->row().number(3)});
    for (; holds->seq() == page.seq; holds->next())
      page.holds.push_back({holds->row().text(1), holds->row().number(2), holds->row().number(3)});
    visit(page);
  }
  for (const auto* rows : {&entries, &postings, &holds}) {
    if (auto read = (*rows)->end(); !read) return read;
  }
  return {};
}

}  // namespace gpupool::ledger
