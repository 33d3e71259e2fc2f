// SPDX-License-Identifier: Apache-2.0
#include "reports/statement.h"
#include "reports/explain.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "books/closing.h"
#include "books/correction.h"
#include "tests/unit/ledger/books_fixture.h"

namespace gpupool::ledger {
namespace {

using base::month_of;
using base::parse_month;

using test::BooksInFolder;
using test::kDay;
using test::kNovember;
using test::make_fact;
using testing::HasSubstr;

TEST(Month, IsReadAndFound) {
  const auto november = parse_month("2026-11");
  ASSERT_TRUE(november);
  EXPECT_EQ(november->begin, kNovember);
  EXPECT_EQ(november->end, kNovember + 30 * kDay);
  EXPECT_EQ(month_of(kNovember - 1).name, "2026-10");
  EXPECT_EQ(month_of(kNovember).name, "2026-11");
  for (const char* text : {"", "2026", "2026-13", "2026-00", "26-11", "2026-1", "2026-11-01", "x", "2026-1x"})
    EXPECT_FALSE(parse_month(text)) << text;
}

TEST(Statement, SumsWhatANamespacePays) {
  BooksInFolder books;
  auto other = make_fact("v", 1, {"b"}, 0, 100);
  other.ns = "team-b";
  books.enter({make_fact("u", 1, {"a"}, 0, 100), make_fact("u", 2, {"a"}, 200, 260), other});
  const auto bill =
      make_statement(*books, *parse_month("2026-11"), {.ns = "team-a", .owner = "", .for_owner = false});
  ASSERT_TRUE(bill);
  EXPECT_EQ(bill->lines.size(), 2U);
  EXPECT_EQ(bill->totals.at("EUR"), 160'000);
  EXPECT_THAT(as_text(*bill), HasSubstr("0.160000 EUR"));
  EXPECT_THAT(as_text(*bill), HasSubstr("0.044"));  // GPU-hours
  EXPECT_THAT(as_csv(*bill), HasSubstr("2026-11,1,team-a,job-u,u,1,lab,alice,a,1,0,0,2026-11-01T00:00:00Z,"
                                       "2026-11-01T00:01:40Z,100,3.600000,10,0.100000,EUR,\r\n"));
  EXPECT_THAT(as_json(*bill), HasSubstr("\"EUR\": \"0.160000\""));
}

TEST(Statement, AsJsonIsOneObject) {
  BooksInFolder books;
  const auto parsed = [&](const Whose& whose) {
    return nlohmann::json::parse(as_json(*make_statement(*books, *parse_month("2026-11"), whose)));
  };
  EXPECT_TRUE(parsed({}).at("lines").empty());
  books.enter({make_fact("u", 1, {"a"}, 0, 100), make_fact("u", 2, {"a", "b"}, 200, 260)});
  const auto bill = parsed({"team-a", "", false});
  ASSERT_EQ(bill.at("lines").size(), 2U);
  EXPECT_EQ(bill.at("lines")[1].at("nodes"), nlohmann::json({"a", "b"}));
  EXPECT_EQ(bill.at("totals").at("EUR"), "0.220000");
  EXPECT_EQ(bill.at("namespace"), "team-a");
  EXPECT_EQ(parsed({"", "alice", true}).at("owed").at("EUR"), "0.198000");
}

TEST(Statement, TooManyLinesAreRefused) {
  BooksInFolder books;
  books.enter({make_fact("u", 1, {"a"}, 0, 100), make_fact("u", 2, {"a"}, 200, 260)});
  EXPECT_TRUE(make_statement(*books, *parse_month("2026-11"), {}, 2));
  const auto refused = make_statement(*books, *parse_month("2026-11"), {}, 1);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().http_status, 413);
  EXPECT_THAT(refused.error().message, HasSubstr("more than 1 entries"));
}

TEST(Statement, LeavesOutWhatBeganBefore) {
  BooksInFolder books;
  books.enter({make_fact("u", 1, {"a"}, 0, 100), make_fact("v", 1, {"a"}, 200, 260)});
  ASSERT_TRUE(correct(*books, 1, 0, "broken"));
  const auto since = [&](std::int64_t second) {
    return make_statement(*books, *parse_month("2026-11"),
                          {.ns = "team-a", .owner = "", .for_owner = false, .since = kNovember + second});
  };
  EXPECT_EQ(since(0)->totals.at("EUR"), 160'000);
  const auto later = since(1);
  ASSERT_EQ(later->lines.size(), 1U);
  EXPECT_EQ(later->lines.front().fact.job, "job-v");
  EXPECT_EQ(later->totals.at("EUR"), 60'000);
  EXPECT_TRUE(since(201)->lines.empty());
  EXPECT_TRUE(explain(*books, "team-a/job-u", kNovember));
  EXPECT_EQ(explain(*books, "team-a/job-u", kNovember + 1).error().code, base::ErrorCode::kNotFound);
}

// Names that are alike, that have what SQL takes for a pattern, and characters that no name has.
TEST(Statement, FindsTheEntriesOfANameAmongOthers) {
  const std::vector<std::string> names = {"a", "aa", "a-1", "a_1", "A", "it's", "%", "a\"b", "a\\", "é"};
  BooksInFolder books;
  std::vector<Fact> facts;
  for (std::size_t i = 0; i < names.size(); ++i) {
    auto fact =
        make_fact("u" + std::to_string(i), 1, {"n" + std::to_string(i)}, 0, static_cast<std::int64_t>(i) + 1);
    fact.ns = fact.owner = names[i];
    facts.push_back(std::move(fact));
  }
  ASSERT_EQ(books.enter(facts), names.size());
  for (std::size_t i = 0; i < names.size(); ++i) {
    const auto bill = make_statement(*books, *parse_month("2026-11"), {names[i], "", false});
    ASSERT_TRUE(bill) << names[i];
    ASSERT_EQ(bill->lines.size(), 1U) << names[i];
    EXPECT_EQ(bill->lines.front().to - bill->lines.front().from, static_cast<std::int64_t>(i) + 1);
    EXPECT_EQ(make_statement(*books, *parse_month("2026-11"), {"", names[i], true})->lines.size(), 1U);
    EXPECT_TRUE(explain(*books, names[i] + "/job-u" + std::to_string(i)));
    EXPECT_TRUE(explain(*books, "u" + std::to_string(i)));
  }
}

TEST(Statement, KnowsWhichMonthsOthersHaveClosed) {
  BooksInFolder books;
  auto other = make_fact("v", 1, {"b"}, 0, 100);
  other.ns = "team-b";
  books.enter({other});
  ASSERT_TRUE(close_month(*books, *parse_month("2026-11"), kNovember + 31 * kDay));
  books.enter({make_fact("u", 1, {"a"}, 0, 100)});
  const auto bill = make_statement(*books, *parse_month("2026-11"), {"team-a", "", false});
  ASSERT_TRUE(bill);
  EXPECT_TRUE(bill->lines.empty());
  EXPECT_EQ(bill->closing, 2);
}

// Fields of a line of CSV. The tags have quotes and commas, the others have not.
std::vector<std::string> fields_of(std::string line) {
  std::string tags;
  if (const auto quote = line.find('"'); quote != std::string::npos) {
    tags = line.substr(quote);
    line.resize(quote);
  }
  std::vector<std::string> fields(1);
  for (const char c : line) {
    if (c == ',') {
      fields.emplace_back();
    } else {
      fields.back() += c;
    }
  }
  fields.back() += tags;
  return fields;
}

// The rows of a table in CSV, by the names of its columns.
std::vector<std::map<std::string, std::string>> rows_of(const std::string& text) {
  std::vector<std::string> names;
  std::vector<std::map<std::string, std::string>> rows;
  for (std::size_t at = 0; at < text.size();) {
    const auto end = text.find("\r\n", at);
    const auto values = fields_of(text.substr(at, end - at));
    if (at == 0) {
      names = values;
    } else {
      EXPECT_EQ(values.size(), names.size());
      auto& row = rows.emplace_back();
      for (std::size_t i = 0; i < std::min(names.size(), values.size()); ++i) row[names[i]] = values[i];
    }
    if (end == std::string::npos) break;
    at = end + 2;
  }
  EXPECT_TRUE(text.ends_with("\r\n"));
  return rows;
}

TEST(Statement, OfAMonthInColumnsOfFocus) {
  BooksInFolder books;
  auto platform = make_fact("v", 1, {"b"}, 0, 100);
  platform.owner.clear();
  books.enter({make_fact("u", 1, {"a"}, 0, 100), platform});
  const auto bill =
      make_statement(*books, *parse_month("2026-11"), {.ns = "", .owner = "", .for_owner = false});
  ASSERT_TRUE(bill);
  const auto rows = rows_of(as_focus(*bill));
  ASSERT_EQ(rows.size(), 2U);
  const std::map<std::string, std::string> expected = {
      {"BilledCost", "0.100000"},
      {"BillingAccountId", "gpupool"},
      {"BillingAccountName", "gpupool"},
      {"BillingCurrency", "EUR"},
      {"BillingPeriodEnd", "2026-12-01T00:00:00Z"},
      {"BillingPeriodStart", "2026-11-01T00:00:00Z"},
      {"ChargeCategory", "Usage"},
      {"ChargeClass", ""},
      {"ChargeDescription", "1 GPU on 1 node"},
      {"ChargeFrequency", "Usage-Based"},
      {"ChargePeriodEnd", "2026-11-01T00:01:40Z"},
      {"ChargePeriodStart", "2026-11-01T00:00:00Z"},
      {"ConsumedQuantity", "0.027777"},  // 100 s
      {"ConsumedUnit", "GPU-Hours"},
      {"ContractedCost", "0.100000"},
      {"ContractedUnitPrice", "3.600000"},
      {"EffectiveCost", "0.100000"},
      {"InvoiceIssuerName", "gpupool"},
      {"ListCost", "0.100000"},
      {"ListUnitPrice", "3.600000"},
      {"PricingCategory", "Standard"},
      {"PricingQuantity", "0.027777"},
      {"PricingUnit", "GPU-Hours"},
      {"ProviderName", "gpupool"},
      {"PublisherName", "alice"},
      {"ResourceId", "u"},
      {"ResourceName", "job-u"},
      {"ResourceType", "GpuJob"},
      {"ServiceCategory", "Compute"},
      {"ServiceName", "gpupool"},
      {"SkuId", "lab"},
      {"SkuPriceId", "lab/3.600000"},
      {"SubAccountId", "team-a"},
      {"SubAccountName", "team-a"},
      {"Tags", R"("{""entry"":""1"",""owner"":""alice"",""pool"":""lab"",""segment"":""1""}")"}};
  EXPECT_EQ(rows[0], expected);
  EXPECT_EQ(rows[1].at("PublisherName"), "gpupool");
}

TEST(Statement, OwnersGetTheRestOfTheFee) {
  BooksInFolder books;
  auto platform = make_fact("v", 1, {"b"}, 0, 100);
  platform.owner.clear();
  books.enter({make_fact("u", 1, {"a"}, 0, 100), platform});
  const auto payout =
      make_statement(*books, *parse_month("2026-11"), {.ns = "", .owner = "", .for_owner = true});
  ASSERT_TRUE(payout);
  EXPECT_EQ(payout->lines.size(), 1U);
  EXPECT_EQ(payout->totals.at("EUR"), 90'000);
}

// The parts of what runs over the end of months are the whole, to the millionth.
TEST(Statement, MonthsAddUp) {
  for (const bool for_owner : {false, true}) {
    BooksInFolder books;
    auto fact = make_fact("u", 1, {"a", "b", "c"}, -20 * kDay - 7, 70 * kDay + 11);
    fact.per_gpu_hour = 1'234'567;
    fact.carry = 1234;
    fact.fee = 7;
    fact.cost = *cost_until(fact, fact.to);
    auto clipped = make_fact("v", 1, {"a"}, 70 * kDay + 5, 90 * kDay);
    books.enter({fact, clipped});
    base::Micros sum = 0;
    for (const char* month : {"2026-10", "2026-11", "2026-12", "2027-01"}) {
      const auto part =
          make_statement(*books, *parse_month(month), {.ns = "", .owner = "", .for_owner = for_owner});
      ASSERT_TRUE(part);
      if (const auto total = part->totals.find("EUR"); total != part->totals.end()) sum += total->second;
    }
    base::Micros posted = 0;
    ASSERT_TRUE(books->each_page([&](const Page& page) {
      for (const auto& posting : page.postings) {
        if (posting.account.starts_with(for_owner ? "owner:" : "tenant:")) posted += posting.amount;
      }
    }));
    EXPECT_EQ(sum, for_owner ? posted : -posted);
  }
}

TEST(Statement, DisputedEntriesAreNotInIt) {
  BooksInFolder books;
  auto wrong = make_fact("u", 1, {"a"}, 0, 100);
  ++wrong.cost;
  books.enter({wrong});
  const auto bill = make_statement(*books, *parse_month("2026-11"), {});
  ASSERT_TRUE(bill);
  EXPECT_TRUE(bill->lines.empty());
  EXPECT_THAT(as_text(*bill), HasSubstr("nothing"));
}

TEST(Explain, ShowsTheArithmetic) {
  BooksInFolder books;
  books.enter({make_fact("u", 1, {"a", "b"}, 0, 100)});
  const auto text = explain(*books, "team-a/job-u");
  ASSERT_TRUE(text);
  EXPECT_THAT(*text, HasSubstr("100 s x 2 nodes x 1 GPU x 3.600000 EUR per GPU-hour = 0.200000"));
  EXPECT_THAT(*text, HasSubstr("owner:alice: 0.180000"));
  EXPECT_TRUE(explain(*books, "u"));
  EXPECT_FALSE(explain(*books, "team-a/none"));
}

// docs/billing.md, "An example month".
TEST(Statement, TheExampleMonthIsAsDocumented) {
  constexpr std::int64_t kHourLong = 3600;
  const auto fact = [](const std::string& job, std::int64_t number, std::vector<std::string> nodes,
                       std::int64_t gpus, base::Micros price, std::int64_t from, std::int64_t to) {
    auto made = make_fact(job, number, std::move(nodes), from, to);
    made.owner = price == 3'100'000 ? "alice" : "";
    made.per_gpu_hour = price;
    made.gpus = gpus;
    made.cost = *cost_until(made, made.to);
    return made;
  };
  const auto at = [](std::int64_t day, std::int64_t hour) { return (day - 1) * kDay + hour * kHourLong; };
  auto notebook = fact("notebook", 1, {"gpu-1"}, 0, 3'100'000, at(10, 0), at(11, 16));
  notebook.slices = 1;
  notebook.split = 10;
  notebook.cost = *cost_until(notebook, notebook.to);
  BooksInFolder books;
  books.enter({fact("train", 1, {"gpu-1", "gpu-2"}, 8, 3'100'000, at(3, 9), at(3, 21) + kHourLong / 2),
               notebook, fact("eval", 1, {"gpu-3"}, 4, 1'200'000, at(30, 22), at(31, 2)),
               fact("probe", 1, {"gpu-3"}, 4, 1'200'000, at(20, 13), at(20, 14)),
               fact("probe", 2, {"gpu-3"}, 4, 1'200'000, at(20, 15), at(20, 15) + kHourLong / 2)});
  const auto november = base::month_of(kNovember);
  EXPECT_EQ(make_statement(*books, november, {"team-a", "", false})->totals.at("EUR"), 649'200'000);
  EXPECT_EQ(make_statement(*books, november, {"", "alice", true})->totals.at("EUR"), 569'160'000);
  EXPECT_EQ(make_statement(*books, base::month_of(november.end), {})->totals.at("EUR"), 9'600'000);
  EXPECT_EQ(books.entries().size(), 5);
  EXPECT_THAT(books.entries(), testing::Each(testing::Field(&Entry::kind, entry_kind::kSegment)));
}

}  // namespace
}  // namespace gpupool::ledger
