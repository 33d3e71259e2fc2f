// SPDX-License-Identifier: Apache-2.0
#include "books/correction.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "books/verify.h"
#include "reports/explain.h"
#include "reports/statement.h"
#include "serve/spending.h"
#include "tests/unit/ledger/books_fixture.h"

namespace gpupool::ledger {
namespace {

using base::parse_month;
using test::BooksInFolder;
using test::make_fact;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

// Sums of all postings, by account.
std::map<std::string, base::Micros> accounts_of(Books& books) {
  std::map<std::string, base::Micros> sums;
  static_cast<void>(books.each_page([&](const Page& page) {
    for (const auto& posting : page.postings) sums[posting.account] += posting.amount;
  }));
  return sums;
}

TEST(Correction, GivesBackAllThatWasCharged) {
  BooksInFolder books;
  books.enter({make_fact("u", 1, {"a"}, 0, 100)});
  const auto entry = correct(*books, 1, 0, "the node was broken");
  ASSERT_TRUE(entry);
  EXPECT_EQ(entry->seq, 2);
  for (const auto& [account, sum] : accounts_of(*books)) EXPECT_EQ(sum, 0) << account;
  EXPECT_THAT(verify(*books, std::nullopt)->findings, IsEmpty());
}

// However it is divided, owner and platform have in the end what they would have of the last amount.
TEST(Correction, ManyAddUpToTheLast) {
  BooksInFolder books;
  auto fact = make_fact("u", 1, {"a"}, 0, 100);
  fact.fee = 7;
  books.enter({fact});
  for (base::Micros amount = 99'999; amount > 99'984; --amount)
    ASSERT_TRUE(correct(*books, 1, amount, "again"));
  for (const base::Micros amount : {250'049, 77'777}) ASSERT_TRUE(correct(*books, 1, amount, "again"));
  const auto accounts = accounts_of(*books);
  EXPECT_EQ(accounts.at("tenant:team-a"), -77'777);
  EXPECT_EQ(accounts.at("platform"), 5'444);  // 7 %, rounded down
  EXPECT_EQ(accounts.at("owner:alice"), 72'333);
  EXPECT_THAT(verify(*books, std::nullopt)->findings, IsEmpty());
}

TEST(Correction, DecidesWhatADisputedEntryCosts) {
  BooksInFolder books;
  books.enter({make_fact("u", 1, {"a"}, 0, 100), make_fact("v", 1, {"a"}, 0, 100)});
  ASSERT_EQ(books.entries().at(1).kind, entry_kind::kDisputed);
  ASSERT_TRUE(correct(*books, 2, 40'000, "it ran for 40 s"));
  EXPECT_EQ(accounts_of(*books).at("tenant:team-a"), -140'000);
  EXPECT_THAT(verify(*books, std::nullopt)->findings, IsEmpty());
}

TEST(Correction, WrongOnesAreRefused) {
  BooksInFolder books;
  books.enter({make_fact("u", 1, {"a"}, 0, 100)});
  EXPECT_THAT(correct(*books, 2, 0, "x").error().message, HasSubstr("have no entry 2"));
  EXPECT_THAT(correct(*books, 1, 100'000, "x").error().message, HasSubstr("costs 0.100000 already"));
  ASSERT_TRUE(correct(*books, 1, 0, "x"));
  EXPECT_THAT(correct(*books, 1, 0, "x").error().message, HasSubstr("costs 0.000000 already"));
  EXPECT_THAT(correct(*books, 2, 0, "x").error().message, HasSubstr("is a correction"));
  EXPECT_THAT(books.entries(), SizeIs(2));
}

TEST(Correction, IsOnTheBillOfTheMonthInWhichItWasEntered) {
  BooksInFolder books;
  books.enter({make_fact("u", 1, {"a"}, 0, 100)});
  ASSERT_TRUE(correct(*books, 1, 30'000, "it was slow, \"very\""));
  const auto month = base::month_of(books.entries().at(1).entered);
  ASSERT_NE(month.name, "2026-11");
  for (const bool for_owner : {false, true}) {
    const auto bill = make_statement(*books, month, {.ns = "", .owner = "", .for_owner = for_owner});
    ASSERT_TRUE(bill);
    ASSERT_THAT(bill->lines, SizeIs(1));
    EXPECT_EQ(bill->lines[0].corrects, 1);
    EXPECT_EQ(bill->totals.at("EUR"), for_owner ? -63'000 : -70'000);
    EXPECT_THAT(as_text(*bill),
                HasSubstr("job-u" + std::string(for_owner ? " of alice" : "") + ", correction of entry 1"));
    EXPECT_THAT(as_csv(*bill), HasSubstr("EUR,\"correction of entry 1: it was slow, \"\"very\"\"\"\r\n"));
  }
  const auto focus = as_focus(*make_statement(*books, month, {}));
  EXPECT_THAT(focus, HasSubstr("-0.070000,gpupool,gpupool,EUR"));
  EXPECT_THAT(focus, HasSubstr("Usage,Correction,"));
  EXPECT_THAT(focus, HasSubstr("2026-11-01T00:01:40Z,2026-11-01T00:00:00Z,0.000000"));
  EXPECT_EQ(make_statement(*books, *parse_month("2026-11"), {})->totals.at("EUR"), 100'000);
}

TEST(Correction, IsExplained) {
  BooksInFolder books;
  books.enter({make_fact("u", 1, {"a"}, 0, 100)});
  ASSERT_TRUE(correct(*books, 1, 30'000, "it was slow"));
  const auto text = explain(*books, "team-a/job-u");
  ASSERT_TRUE(text);
  EXPECT_THAT(*text,
              HasSubstr("entry 2 (correction), segment u/1 of team-a/job-u:\n  of entry 1: 0.030000 EUR in "
                        "place of 0.100000; it was slow\n"));
  EXPECT_THAT(*text, HasSubstr("owner:alice: -0.063000"));
}

TEST(Correction, ABudgetHasItsMoneyAgain) {
  BooksInFolder books;
  books.enter({make_fact("u", 1, {"a"}, 0, 100)});
  Spending spending;
  ASSERT_TRUE(spending.read(*books));
  EXPECT_EQ(spending.of("team-a", "EUR", ""), 100'000);
  ASSERT_TRUE(correct(*books, 1, 30'000, "it was slow"));
  ASSERT_TRUE(spending.read(*books));
  EXPECT_EQ(spending.of("team-a", "EUR", ""), 30'000);
  EXPECT_EQ(spending.of("team-a", "EUR", "2026-11"), 100'000);
  EXPECT_EQ(spending.of("team-a", "EUR", base::month_of(books.entries().at(1).entered).name), -70'000);
}

// A correction whose content does not follow from what it corrects, though its hash is right.
TEST(Correction, VerifyNamesOneThatWasMadeUp) {
  const Correction right{1, 1, 100'000, 30'000, "x", make_fact("u", 1, {"a"}, 0, 100)};
  auto other_fact = right;
  other_fact.fact.ns = "team-b";
  auto other_amount = right;
  other_amount.before = 200'000;
  auto other_number = right;
  other_number.number = 2;
  auto negative = right;
  negative.after = -1;
  auto no_entry = right;
  no_entry.entry = 7;
  auto itself = right;
  itself.entry = 2;
  for (const auto& [correction, findings] : std::vector<std::pair<Correction, std::size_t>>{{right, 0},
                                                                                            {other_fact, 1},
                                                                                            {other_amount, 1},
                                                                                            {other_number, 1},
                                                                                            {negative, 1},
                                                                                            {no_entry, 1},
                                                                                            {itself, 1}}) {
    BooksInFolder books;
    books.enter({make_fact("u", 1, {"a"}, 0, 100)});
    ASSERT_TRUE(books->add([&]() -> base::Result<Entry> {
      return Entry{0, correction.key(), entry_kind::kCorrection, to_text(correction), "", 0, 0, ""};
    }));
    EXPECT_THAT(verify(*books, std::nullopt)->findings, SizeIs(findings)) << to_text(correction);
  }
}

}  // namespace
}  // namespace gpupool::ledger
