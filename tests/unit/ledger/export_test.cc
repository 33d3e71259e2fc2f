// SPDX-License-Identifier: Apache-2.0
#include "reports/export.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "books/closing.h"
#include "books/correction.h"
#include "tests/unit/ledger/books_fixture.h"

namespace gpupool::ledger {
namespace {

using test::BooksInFolder;
using test::kNovember;
using test::make_fact;

std::vector<nlohmann::json> exported(Books& books, std::int64_t after) {
  std::vector<nlohmann::json> lines;
  EXPECT_TRUE(export_entries(books, after, [&](const std::string& line) {
    EXPECT_TRUE(line.ends_with("\n"));
    lines.push_back(nlohmann::json::parse(line));
  }));
  return lines;
}

// Who has the lines alone can work out the chain and the balances.
TEST(Export, HasAllThatTheChainIsMadeOf) {
  BooksInFolder books;
  books.enter({make_fact("u", 1, {"a"}, 0, 100), make_fact("v", 1, {"a"}, 0, 100)});
  ASSERT_TRUE(correct(*books, 1, 30'000, "it was slow"));
  const auto month = base::month_of(kNovember);
  ASSERT_TRUE(close_month(*books, month, month.end));
  const auto lines = exported(*books, 0);
  ASSERT_EQ(lines.size(), 4U);
  std::string before(kNoHash);
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const auto& line = lines[i];
    const Entry entry{line.at("seq"),    line.at("key"),     line.at("kind"),    line.at("body").dump(),
                      line.at("remark"), line.at("clipped"), line.at("entered"), line.at("hash")};
    EXPECT_EQ(entry, books.entries().at(i));
    EXPECT_EQ(hash_of(entry, before), entry.hash);
    before = entry.hash;
  }
  EXPECT_EQ(lines[2].at("postings")[0].dump(),
            R"({"account":"tenant:team-a","amount":70000,"currency":"EUR"})");
  EXPECT_TRUE(lines[1].at("postings").empty()) << "it is disputed";
  EXPECT_TRUE(lines[3].at("postings").empty());
}

TEST(Export, BeginsAfterAnEntry) {
  BooksInFolder books;
  books.enter({make_fact("u", 1, {"a"}, 0, 100), make_fact("v", 1, {"b"}, 0, 100)});
  const auto lines = exported(*books, 1);
  ASSERT_EQ(lines.size(), 1U);
  EXPECT_EQ(lines[0].at("seq"), 2);
}

}  // namespace
}  // namespace gpupool::ledger
