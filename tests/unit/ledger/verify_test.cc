// SPDX-License-Identifier: Apache-2.0
#include "books/verify.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "books/closing.h"
#include "books/correction.h"
#include "tests/unit/ledger/books_fixture.h"

namespace gpupool::ledger {
namespace {

using test::BooksInFolder;
using test::make_fact;
using testing::HasSubstr;
using testing::IsEmpty;

// Books with five entries, of which the fourth is disputed.
class Forged {
 public:
  Forged() {
    for (int i = 1; i <= 5; ++i)
      books_.enter({make_fact("u" + std::to_string(i), 1, {i == 4 ? "n1" : "n" + std::to_string(i)}, 0, 60)});
    head_ = *books_->head();
  }
  void forge(const std::string& sql) { books_.forge(sql); }
  Head head() const { return head_; }
  std::vector<Entry> entries() { return books_.entries(); }
  Verdict verdict(const std::optional<Head>& known = std::nullopt) { return *verify(*books_, known); }
  // The entries that are named.
  std::vector<std::int64_t> named() {
    std::vector<std::int64_t> seqs;
    for (const auto& finding : verdict().findings) {
      if (seqs.empty() || seqs.back() != finding.seq) seqs.push_back(finding.seq);
    }
    return seqs;
  }

 private:
  BooksInFolder books_;
  Head head_;
};

TEST(Verify, RightBooks) {
  Forged books;
  const auto right = books.verdict(books.head());
  EXPECT_THAT(right.findings, IsEmpty());
  EXPECT_EQ(right.entries, 5);
  EXPECT_EQ(right.disputed, 1);
  EXPECT_EQ(right.head, books.head());
}

TEST(Verify, NamesEveryFieldThatWasChanged) {
  for (const auto* change : {"key = 'x'", "kind = 'disputed'", "body = replace(body, 'team-a', 'team-b')",
                             "remark = 'x'", "clipped = 1", "entered = entered + 1", "hash = 'x'"}) {
    for (int seq = 1; seq <= 5; ++seq) {
      if (seq == 4 && std::string(change).starts_with("kind")) continue;  // it is disputed
      Forged other;
      const auto where = std::string(" WHERE seq = ") + std::to_string(seq);
      other.forge(std::string("UPDATE entry SET ") + change + where);
      EXPECT_THAT(other.named(), testing::Contains(seq)) << change << where;
    }
  }
}

// Of corrections and closed months too, every field and every row.
TEST(Verify, NamesWhatWasChangedInCorrectionsAndClosings) {
  const auto month = base::month_of(test::kNovember);
  for (const int seq : {2, 3}) {
    const auto where = " WHERE seq = " + std::to_string(seq);
    for (const auto& sql :
         {"UPDATE entry SET key = 'x'" + where, "UPDATE entry SET kind = 'segment'" + where,
          "UPDATE entry SET body = replace(body, 'EUR', 'USD')" + where,
          "UPDATE entry SET body = replace(body, '0', '1')" + where, "UPDATE entry SET remark = 'x'" + where,
          "UPDATE entry SET clipped = 1" + where, "UPDATE entry SET entered = entered + 1" + where,
          "UPDATE entry SET hash = 'x'" + where,
          "INSERT INTO posting VALUES(" + std::to_string(seq) + ", 'x', 'EUR', 0)",
          "INSERT INTO hold VALUES(" + std::to_string(seq) + ", 'x', 1, 2)", "DELETE FROM entry" + where}) {
      BooksInFolder books;
      books.enter({make_fact("u", 1, {"n"}, 0, 60)});
      ASSERT_TRUE(correct(*books, 1, 30'000, "x"));
      ASSERT_TRUE(close_month(*books, month, month.end));
      books.enter({make_fact("u", 2, {"n"}, 60, 120)});
      ASSERT_THAT(verify(*books, std::nullopt)->findings, IsEmpty());
      books.forge(sql);
      const bool deleted = sql.starts_with("DELETE");
      EXPECT_THAT(verify(*books, std::nullopt)->findings,
                  testing::Contains(testing::Field(&Finding::seq, deleted ? seq + 1 : seq)))
          << sql;
    }
  }
}

// Who changes an entry together with its hash has to change all that follow.
TEST(Verify, NamesTheEntryAfterOneThatWasForgedWithItsHash) {
  Forged books;
  auto entries = books.entries();
  auto& entry = entries.at(1);
  entry.remark = "x";
  books.forge("UPDATE entry SET remark = 'x', hash = '" + hash_of(entry, entries.at(0).hash) +
              "' WHERE seq = 2");
  EXPECT_THAT(books.named(), testing::ElementsAre(3));
}

TEST(Verify, NamesAnEntryThatWasDeleted) {
  for (int seq = 1; seq < 5; ++seq) {
    Forged other;
    other.forge("DELETE FROM entry WHERE seq = " + std::to_string(seq));
    ASSERT_FALSE(other.named().empty()) << seq;
    EXPECT_THAT(other.verdict().findings,
                testing::Contains(testing::Field(&Finding::what,
                                                 HasSubstr("entry " + std::to_string(seq) + " is missing"))));
  }
}

TEST(Verify, NamesAnEntryThatWasAdded) {
  Forged books;
  books.forge(
      "INSERT INTO entry SELECT 6, 'u6/1', kind, body, remark, clipped, entered, hash FROM entry WHERE seq = "
      "5");
  EXPECT_THAT(books.named(), testing::ElementsAre(6));
}

TEST(Verify, NamesPostingsThatWereChangedDeletedOrAdded) {
  for (const auto* sql :
       {"UPDATE posting SET amount = amount + 1 WHERE seq = 3",
        "UPDATE posting SET account = 'tenant:x' WHERE seq = 3 AND amount < 0",
        "UPDATE posting SET currency = 'USD' WHERE seq = 3", "DELETE FROM posting WHERE seq = 3",
        "INSERT INTO posting VALUES(3, 'owner:eve', 'EUR', 1)",
        "INSERT INTO posting SELECT * FROM posting WHERE seq = 3 LIMIT 1"}) {
    Forged other;
    other.forge(sql);
    EXPECT_THAT(other.named(), testing::Contains(3)) << sql;
  }
}

TEST(Verify, NamesTimesOfNodesThatWereChangedDeletedOrAdded) {
  for (const auto* sql :
       {"UPDATE hold SET until = until + 1 WHERE seq = 2", "UPDATE hold SET node = 'x' WHERE seq = 2",
        "DELETE FROM hold WHERE seq = 2", "INSERT INTO hold VALUES(2, 'x', 1, 2)"}) {
    Forged other;
    other.forge(sql);
    EXPECT_THAT(other.named(), testing::ElementsAre(2)) << sql;
  }
}

TEST(Verify, NoticesACutWithTheHead) {
  Forged books;
  books.forge(
      "DELETE FROM posting WHERE seq >= 4; DELETE FROM hold WHERE seq >= 4; DELETE FROM entry WHERE seq >= "
      "4");
  EXPECT_THAT(books.verdict().findings, IsEmpty()) << "a chain alone does not show it";
  const auto found = books.verdict(books.head()).findings;
  ASSERT_EQ(found.size(), 1U);
  EXPECT_THAT(found[0].what, HasSubstr("the books end with entry 3, the given head is entry 5"));
}

TEST(Verify, NoticesBooksThatWereWrittenAnew) {
  BooksInFolder others;
  for (int i = 1; i <= 5; ++i)
    others.enter({make_fact("v" + std::to_string(i), 1, {"n" + std::to_string(i)}, 0, 60)});
  const auto found = verify(*others, Forged().head())->findings;
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].seq, 5);
}

}  // namespace
}  // namespace gpupool::ledger
