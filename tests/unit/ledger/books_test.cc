// SPDX-License-Identifier: Apache-2.0
#include "books/books.h"

#include <algorithm>
#include <map>
#include <random>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "books/verify.h"
#include "tests/unit/ledger/books_fixture.h"

namespace gpupool::ledger {
namespace {

using test::BooksInFolder;
using test::make_fact;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;
using testing::UnorderedElementsAre;

TEST(Fact, IsReadAsItWasWritten) {
  auto fact = make_fact("u", 7, {"b", "a"}, 0, 60);
  fact.slices = 3;
  fact.split = 10;
  fact.carry = 17;
  const auto again = fact_from(to_text(fact));
  ASSERT_TRUE(again);
  EXPECT_EQ(*again, fact);
}

TEST(Fact, ComesFromTheStatusOfAJob) {
  api::GpuJob job;
  job.metadata.uid = "uid";
  job.metadata.ns = "ns";
  job.metadata.name = "train";
  EXPECT_THAT(facts_of(job), IsEmpty());
  const auto at = [](int second) { return base::WallTime(std::chrono::seconds(second)); };
  api::BillSegment segment{
      1, {"lab", "alice", "EUR", "3.600000", 10, 2, 0, 0}, {}, 2, at(100), at(160), "0.240000", 5};
  job.status.lease.emplace().nodes = {{"n2", ""}, {"n1", ""}};
  job.status.progress.emplace().bill.emplace().segments = {segment, segment};
  job.status.progress->bill->segments[1].cost = "much";
  const auto facts = facts_of(job);
  ASSERT_EQ(facts.size(), 1U) << "the other one cannot be read";
  EXPECT_EQ(facts[0].key(), "uid/1");
  EXPECT_THAT(facts[0].nodes, ElementsAre("n1", "n2")) << "those of the lease";
  EXPECT_EQ(facts[0].cost, 240'000);
  EXPECT_EQ(facts[0].to - facts[0].from, 60);
  EXPECT_EQ(cost_until(facts[0], facts[0].to), facts[0].cost);
}

TEST(Postings, AddUpToZero) {
  const auto fact = make_fact("u", 1, {"a"}, 0, 3600);
  EXPECT_THAT(
      postings_of(fact, 0, fact.cost),
      UnorderedElementsAre(Posting{"tenant:team-a", "EUR", -3'600'000},
                           Posting{"owner:alice", "EUR", 3'240'000}, Posting{"platform", "EUR", 360'000}));
  auto own = fact;
  own.owner.clear();
  EXPECT_THAT(postings_of(own, 0, own.cost), UnorderedElementsAre(Posting{"tenant:team-a", "EUR", -3'600'000},
                                                                  Posting{"platform", "EUR", 3'600'000}));
  auto free = fact;
  free.cost = 0;
  EXPECT_THAT(postings_of(free, 0, free.cost), IsEmpty());
}

TEST(Books, EnterAFactOnce) {
  BooksInFolder books;
  const auto fact = make_fact("u", 1, {"a"}, 0, 60);
  EXPECT_EQ(books.enter({fact, fact}), 1U);
  EXPECT_EQ(books.enter({fact}), 0U);
  books.open();
  EXPECT_EQ(books.enter({fact, make_fact("u", 2, {"a"}, 60, 90)}), 1U);
  EXPECT_EQ(books.entries().size(), 2U);
  EXPECT_EQ(books->head()->seq, 2);
}

TEST(Books, DisputeAKeyWithOtherContentOnce) {
  BooksInFolder books;
  EXPECT_EQ(books.enter({make_fact("u", 1, {"a"}, 0, 60)}), 1U);
  const auto other = make_fact("u", 1, {"a"}, 0, 61);
  EXPECT_EQ(books.enter({other}), 1U);
  EXPECT_EQ(books.enter({other, make_fact("u", 1, {"a"}, 0, 60)}), 0U);
  const auto entries = books.entries();
  ASSERT_EQ(entries.size(), 2U);
  EXPECT_EQ(entries[1].kind, entry_kind::kDisputed);
  EXPECT_THAT(entries[1].key, StartsWith("u/1/"));
  EXPECT_THAT(entries[1].remark, HasSubstr("entry 1 has the same key"));
}

TEST(Books, DisputeAnAmountThatIsWrong) {
  BooksInFolder books;
  auto fact = make_fact("u", 1, {"a"}, 0, 60);
  ++fact.cost;
  EXPECT_EQ(books.enter({fact}), 1U);
  EXPECT_EQ(books.entries()[0].kind, entry_kind::kDisputed);
  auto nowhere = make_fact("v", 1, {}, 0, 60);
  EXPECT_EQ(books.enter({nowhere}), 1U);
  EXPECT_EQ(books.entries()[1].kind, entry_kind::kDisputed);
}

TEST(Books, DisputeASecondHolderOfANode) {
  BooksInFolder books;
  EXPECT_EQ(books.enter({make_fact("u", 1, {"a", "b"}, 0, 60), make_fact("v", 1, {"b", "c"}, 30, 90),
                         make_fact("w", 1, {"b"}, 60, 90)}),
            3U);
  const auto entries = books.entries();
  EXPECT_EQ(entries[1].kind, entry_kind::kDisputed);
  EXPECT_THAT(entries[1].remark, HasSubstr("node b was held by another job for 30 s"));
  EXPECT_EQ(entries[2].kind, entry_kind::kSegment) << "one begins when the other ends";
}

TEST(Books, DoNotChargeSecondsThatTwoClocksMade) {
  BooksInFolder books;
  EXPECT_EQ(books.enter({make_fact("u", 1, {"a", "b"}, 0, 60), make_fact("v", 1, {"a", "b"}, 55, 90)}), 2U);
  const auto entries = books.entries();
  EXPECT_EQ(entries[1].kind, entry_kind::kSegment);
  EXPECT_EQ(entries[1].clipped, 10) << "5 s of each of two nodes";
  EXPECT_EQ(amount_of(*fact_from(entries[1].body), entries[1].clipped), (2 * 35 - 10) * 1000);
}

TEST(Books, SharedNodesHaveSeveralHolders) {
  BooksInFolder books;
  auto slices = make_fact("u", 1, {"a"}, 0, 60);
  slices.gpus = 0;
  slices.slices = 3;
  slices.split = 10;
  slices.cost = *cost_until(slices, slices.to);
  auto others = slices;
  others.job_uid = "v";
  EXPECT_EQ(books.enter({slices, others}), 2U);
  for (const auto& entry : books.entries()) EXPECT_EQ(entry.kind, entry_kind::kSegment);
}

// Facts come again and again, in any order, in any parts: the accounts are the same.
TEST(Books, DoNotDependOnTheOrder) {
  std::vector<Fact> all;
  for (int i = 0; i < 60; ++i)
    all.push_back(make_fact("job" + std::to_string(i % 20), i / 20 + 1, {"n" + std::to_string(i % 20)},
                            i / 20 * 100, i / 20 * 100 + 1 + i));
  std::mt19937 random(7);
  const auto balances = [&] {
    BooksInFolder books;
    for (int round = 0; round < 10; ++round) {
      std::ranges::shuffle(all, random);
      std::vector<Fact> part(all.begin(), all.begin() + 40);
      EXPECT_TRUE(books->enter(part));
    }
    EXPECT_TRUE(books->enter(all));
    EXPECT_EQ(books.entries().size(), all.size());
    std::map<std::string, base::Micros> sums;
    EXPECT_TRUE(books->each_page([&](const Page& page) {
      for (const auto& posting : page.postings) sums[posting.account] += posting.amount;
    }));
    return sums;
  };
  const auto first = balances();
  EXPECT_EQ(balances(), first);
  EXPECT_EQ(first.at("tenant:team-a") + first.at("owner:alice") + first.at("platform"), 0);
}

TEST(Books, GoOnAfterTheirConnectionWasLost) {
  BooksInFolder books;
  books.enter({make_fact("u", 1, {"a"}, 0, 100)});
  const std::vector<Fact> next = {make_fact("v", 1, {"a"}, 100, 200)};
  books.lose_connection();
  const bool noticed = !books->enter(next);
  EXPECT_EQ(books->enter(next).value_or(99), noticed ? 1U : 0U);
  books.lose_connection();
  int seen = 0;
  const auto count = [&](const Entry&) { return ++seen > 0; };
  if (!books->each_entry(count)) {
    seen = 0;
    EXPECT_TRUE(books->each_entry(count));
  }
  EXPECT_EQ(seen, 2);
  EXPECT_TRUE(verify(*books, std::nullopt)->findings.empty());
}

// More than a cursor of PostgreSQL reads at once, with others open beside it.
TEST(Books, ReadManyRows) {
  BooksInFolder books;
  std::vector<Fact> facts;
  for (int i = 0; i < 2500; ++i)
    facts.push_back(make_fact("u" + std::to_string(i), 1, {"n" + std::to_string(i)}, 0, 60));
  ASSERT_EQ(books.enter(facts), 2500U);
  EXPECT_EQ(books.entries().size(), 2500U);
  const auto right = verify(*books, std::nullopt);
  EXPECT_EQ(right->entries, 2500);
  EXPECT_TRUE(right->findings.empty());
}

TEST(Books, AreNotMadeByAReader) {
  test::TemporaryFolder folder;
  test::ManualClock clock;
  const auto books = Books::open_to_read(folder.path() + "/none.db", clock);
  ASSERT_FALSE(books);
  EXPECT_THAT(books.error().message, HasSubstr("none.db"));
}

}  // namespace
}  // namespace gpupool::ledger
