// SPDX-License-Identifier: Apache-2.0
#include "books/closing.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "books/correction.h"
#include "books/verify.h"
#include "reports/statement.h"
#include "serve/spending.h"
#include "tests/unit/ledger/books_fixture.h"

namespace gpupool::ledger {
namespace {

using test::BooksInFolder;
using test::kDay;
using test::kNovember;
using test::make_fact;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

const base::Month kMonth = base::month_of(kNovember);

TEST(Closing, WhatIsEnteredLaterIsOfALaterMonth) {
  BooksInFolder books;
  books.enter({make_fact("u", 1, {"a"}, 0, 100)});
  const auto closing = close_month(*books, kMonth, kMonth.end);
  ASSERT_TRUE(closing);
  EXPECT_EQ(closing->body, R"({"month":"2026-11","totals":{"EUR":100000}})");
  // Of the last day of November and the first of December.
  books.enter({make_fact("u", 2, {"a"}, 29 * kDay, 31 * kDay)});
  const auto november = make_statement(*books, kMonth, {});
  EXPECT_EQ(november->totals.at("EUR"), 100'000);
  EXPECT_EQ(november->closing, 2);
  EXPECT_THAT(as_text(*november), HasSubstr("2026-11 (UTC), closed\n"));
  EXPECT_EQ(make_statement(*books, *base::parse_month("2026-12"), {})->totals.at("EUR"), kDay * 1000);
  const auto entered = base::month_of(books.entries().at(2).entered);
  const auto later = make_statement(*books, entered, {});
  ASSERT_THAT(later->lines, SizeIs(1));
  EXPECT_EQ(later->totals.at("EUR"), kDay * 1000);
  EXPECT_THAT(later->lines[0].note, HasSubstr("closed"));
  EXPECT_EQ(later->lines[0].to - later->lines[0].from, kDay);
  EXPECT_THAT(as_text(*later), Not(HasSubstr("closed\n")));
  EXPECT_THAT(verify(*books, std::nullopt)->findings, IsEmpty());
}

TEST(Closing, BudgetsCountByTheSameMonths) {
  BooksInFolder books;
  books.enter({make_fact("u", 1, {"a"}, 0, 100)});
  ASSERT_TRUE(close_month(*books, kMonth, kMonth.end));
  books.enter({make_fact("u", 2, {"a"}, 100, 160)});
  Spending spending;
  ASSERT_TRUE(spending.read(*books));
  EXPECT_EQ(spending.of("team-a", "EUR", "2026-11"), 100'000);
  EXPECT_EQ(spending.of("team-a", "EUR", base::month_of(books.entries().at(2).entered).name), 60'000);
}

// A correction that is entered by a clock that is set back to a closed month.
TEST(Closing, NothingChangesAClosedMonth) {
  BooksInFolder books;
  books.enter({make_fact("u", 1, {"a"}, 0, 100)});
  const auto now = base::month_of(books.entries().at(0).entered);
  ASSERT_TRUE(close_month(*books, now, now.end));
  ASSERT_TRUE(correct(*books, 1, 0, "x"));
  EXPECT_THAT(make_statement(*books, now, {})->lines, IsEmpty());
  EXPECT_EQ(make_statement(*books, base::month_of(now.end), {})->totals.at("EUR"), -100'000);
}

TEST(Closing, OfAMonthThatHasNotEndedOrIsClosedIsRefused) {
  BooksInFolder books;
  EXPECT_THAT(close_month(*books, kMonth, kMonth.end - 1).error().message, HasSubstr("has not ended"));
  ASSERT_TRUE(close_month(*books, kMonth, kMonth.end));
  EXPECT_THAT(close_month(*books, kMonth, kMonth.end).error().message, HasSubstr("is closed already"));
  EXPECT_THAT(books.entries(), SizeIs(1));
}

TEST(Closing, VerifyNamesOneThatWasMadeUp) {
  for (const auto& [closing, findings] :
       std::vector<std::pair<Closing, std::size_t>>{{{"2026-11", {{"EUR", 100'000}}}, 0},
                                                    {{"2026-11", {}}, 1},
                                                    {{"2026-11", {{"EUR", 100'001}}}, 1},
                                                    {{"2026-12", {{"EUR", 100'000}}}, 1}}) {
    BooksInFolder books;
    books.enter({make_fact("u", 1, {"a"}, 0, 100)});
    const auto add = [&](const std::string& key) {
      return books->add([&, &made = closing]() -> base::Result<Entry> {
        return Entry{0, key, entry_kind::kClosing, to_text(made), "", 0, 0, ""};
      });
    };
    ASSERT_TRUE(add(closing.key()));
    EXPECT_THAT(verify(*books, std::nullopt)->findings, SizeIs(findings)) << to_text(closing);
    ASSERT_TRUE(add("closing/other"));
    EXPECT_THAT(verify(*books, std::nullopt)->findings, SizeIs(2 * findings + 2))
        << "closed twice, with another key";
  }
}

}  // namespace
}  // namespace gpupool::ledger
