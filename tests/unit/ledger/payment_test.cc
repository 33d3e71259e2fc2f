// SPDX-License-Identifier: Apache-2.0
#include "books/payment.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "books/closing.h"
#include "books/verify.h"
#include "reports/export.h"
#include "reports/statement.h"
#include "serve/spending.h"
#include "tests/unit/ledger/books_fixture.h"

namespace gpupool::ledger {
namespace {

using test::BooksInFolder;
using test::kNovember;
using test::make_fact;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

const Whose kAlice{"", "alice", true};

base::Month month_of_entry(BooksInFolder& books) { return base::month_of(books.entries().back().entered); }

TEST(Payment, IsOnThePayoutOfItsMonthAndIsOwedNoMore) {
  BooksInFolder books;
  books.enter({make_fact("u", 1, {"a"}, 0, 100)});  // 0.10, of which alice gets 0.09
  const auto entry = pay(*books, {"alice", "EUR", 50'000, "SEPA 17"});
  ASSERT_TRUE(entry);
  EXPECT_EQ(entry->body, R"({"amount":50000,"currency":"EUR","owner":"alice","reference":"SEPA 17"})");
  EXPECT_EQ(entry->key, "payment/SEPA 17");
  const auto paid_in = month_of_entry(books);
  const auto payout = make_statement(*books, paid_in, kAlice);
  ASSERT_THAT(payout->payments, SizeIs(1));
  EXPECT_EQ(payout->payments[0].payment.amount, 50'000);
  ASSERT_LT(paid_in.end, kNovember) << "paid in advance";
  EXPECT_EQ(payout->owed.at("EUR"), -50'000);
  const auto before = make_statement(*books, base::month_of(paid_in.begin - 1), kAlice);
  EXPECT_THAT(before->payments, IsEmpty());
  EXPECT_THAT(before->owed, IsEmpty());
  const auto november = make_statement(*books, base::month_of(kNovember), kAlice);
  EXPECT_THAT(november->payments, IsEmpty());
  EXPECT_EQ(november->owed.at("EUR"), 40'000);
  EXPECT_THAT(as_text(*payout), HasSubstr("Paid to alice on "));
  EXPECT_THAT(as_text(*payout), HasSubstr(", SEPA 17"));
  EXPECT_THAT(as_json(*payout), HasSubstr(R"("reference": "SEPA 17")"));
  EXPECT_THAT(verify(*books, std::nullopt)->findings, IsEmpty());
}

TEST(Payment, IsOfItsOwnerAndOnNoBill) {
  BooksInFolder books;
  books.enter({make_fact("u", 1, {"a"}, 0, 100)});
  ASSERT_TRUE(pay(*books, {"bob", "EUR", 50'000, "x"}));
  const auto month = month_of_entry(books);
  EXPECT_THAT(make_statement(*books, month, kAlice)->payments, IsEmpty());
  EXPECT_THAT(make_statement(*books, month, {"", "", true})->payments, SizeIs(1));
  const auto bill = make_statement(*books, month, {});
  EXPECT_THAT(bill->payments, IsEmpty());
  EXPECT_THAT(bill->owed, IsEmpty());
  EXPECT_THAT(as_text(*bill), Not(HasSubstr("Owed")));
  EXPECT_EQ(make_statement(*books, base::month_of(kNovember), {})->totals.at("EUR"), 100'000);
}

TEST(Payment, OwedIsOfAllMonthsUpToItsEnd) {
  BooksInFolder books;
  const auto december = base::month_of(kNovember).end;
  books.enter({make_fact("u", 1, {"a"}, 0, 100),
               make_fact("v", 1, {"b"}, december - kNovember, december - kNovember + 10)});
  EXPECT_THAT(make_statement(*books, *base::parse_month("2026-10"), kAlice)->owed, IsEmpty());
  EXPECT_EQ(make_statement(*books, *base::parse_month("2026-11"), kAlice)->owed.at("EUR"), 90'000);
  EXPECT_EQ(make_statement(*books, *base::parse_month("2026-12"), kAlice)->owed.at("EUR"), 99'000);
}

TEST(Payment, IsEnteredOnceAndCanBeTakenBack) {
  BooksInFolder books;
  ASSERT_TRUE(pay(*books, {"alice", "EUR", 50'000, "x"}));
  EXPECT_THAT(pay(*books, {"alice", "EUR", 50'000, "x"}).error().message, HasSubstr("is entry 1 already"));
  EXPECT_THAT(pay(*books, {"alice", "EUR", 0, "y"}).error().message, HasSubstr("must not be 0"));
  EXPECT_THAT(books.entries(), SizeIs(1));
  ASSERT_TRUE(pay(*books, {"alice", "EUR", -50'000, "x was sent back"}));
  EXPECT_EQ(make_statement(*books, month_of_entry(books), kAlice)->owed.at("EUR"), 0);
  EXPECT_THAT(verify(*books, std::nullopt)->findings, IsEmpty());
}

TEST(Payment, ChangesNoBudgetAndNoTotalOfAMonth) {
  BooksInFolder books;
  books.enter({make_fact("u", 1, {"a"}, 0, 100)});
  ASSERT_TRUE(pay(*books, {"alice", "EUR", 50'000, "x"}));
  Spending spending;
  ASSERT_TRUE(spending.read(*books));
  EXPECT_EQ(spending.of("team-a", "EUR", "2026-11"), 100'000);
  const auto month = base::month_of(kNovember);
  EXPECT_EQ(close_month(*books, month, month.end)->body, R"({"month":"2026-11","totals":{"EUR":100000}})");
}

TEST(Payment, IsExportedWithItsPostings) {
  BooksInFolder books;
  ASSERT_TRUE(pay(*books, {"alice", "EUR", 50'000, "x"}));
  std::string text;
  ASSERT_TRUE(export_entries(*books, 0, [&](const std::string& line) { text += line; }));
  EXPECT_THAT(text, HasSubstr(R"({"account":"owner:alice","amount":-50000,"currency":"EUR"})"));
  EXPECT_THAT(text, HasSubstr(R"({"account":"payments","amount":50000,"currency":"EUR"})"));
}

TEST(Payment, VerifyNamesOneWithAnotherKeyOrOtherPostings) {
  BooksInFolder books;
  ASSERT_TRUE(books->add([]() -> base::Result<Entry> {
    return Entry{0, "payment/y", entry_kind::kPayment, to_text(Payment{"alice", "EUR", 1, "x"}), "", 0,
                 0, ""};
  }));
  ASSERT_TRUE(pay(*books, {"alice", "EUR", 50'000, "z"}));
  books.forge("UPDATE posting SET amount = -1 WHERE seq = 2 AND account = 'owner:alice'");
  std::vector<std::int64_t> named;
  const auto verdict = verify(*books, std::nullopt);
  for (const auto& finding : verdict->findings) named.push_back(finding.seq);
  EXPECT_THAT(named, ElementsAre(1, 2, 0)) << "the key, the postings, and their sum";
}

}  // namespace
}  // namespace gpupool::ledger
