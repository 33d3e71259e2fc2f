// SPDX-License-Identifier: Apache-2.0
#include "books/machine_times.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "reports/machine_report.h"
#include "serve/machine_feed.h"
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

constexpr std::int64_t kNextHour = kNovember + 3600;

class MachineTime : public testing::Test {
 protected:
  MachineTime() : times_(*MachineTimes::open(books_.path())) {}
  // Of a machine with one GPU.
  void report(const std::string& node, const std::string& since, std::int64_t sampled, std::int64_t busy,
              std::int64_t now) {
    ASSERT_TRUE(times_.add({{node, {{"GPU-" + node, since, sampled, busy}}}}, now));
  }
  std::vector<MachineHour> all() { return *times_.between(kNovember, kNovember + 10 * 3600); }

  BooksInFolder books_;
  MachineTimes times_;
};

TEST_F(MachineTime, IsWhatCountersHaveGrownBy) {
  report("a", "boot 1", 50'000, 20'000, kNovember);  // before anybody looked
  EXPECT_THAT(all(), IsEmpty());
  report("a", "boot 1", 60'000, 21'000, kNovember + 60);
  report("a", "boot 1", 60'000, 21'000, kNovember + 90);
  report("a", "boot 1", 75'000, 25'000, kNextHour + 1);
  report("b", "boot 1", 1, 1, kNextHour);
  EXPECT_THAT(all(), ElementsAre(MachineHour{"a", kNovember, 10'000, 1'000},
                                 MachineHour{"a", kNextHour, 15'000, 4'000}));
}

TEST_F(MachineTime, BeginsAnewWhenTheMachineBoots) {
  report("a", "boot 1", 50'000, 20'000, kNovember);
  report("a", "boot 2", 3'000, 2'000, kNovember + 60);
  report("a", "boot 2", 2'000, 1'000, kNovember + 70);  // never goes back
  EXPECT_THAT(all(), ElementsAre(MachineHour{"a", kNovember, 3'000, 2'000}));
}

TEST_F(MachineTime, IsNotCountedTwiceByARestartedLedger) {
  report("a", "boot 1", 0, 0, kNovember);
  report("a", "boot 1", 10'000, 5'000, kNovember);
  times_ = *MachineTimes::open(books_.path());
  report("a", "boot 1", 10'000, 5'000, kNovember);
  report("a", "boot 1", 12'000, 5'500, kNovember);
  EXPECT_THAT(all(), ElementsAre(MachineHour{"a", kNovember, 12'000, 5'500}));
}

TEST_F(MachineTime, OfAMachineIsThatOfAllItsGpus) {
  const auto add = [&](std::int64_t sampled) {
    ASSERT_TRUE(
        times_.add({{"a", {{"GPU-1", "s", sampled, sampled / 2}, {"GPU-2", "s", sampled, 0}}}}, kNovember));
  };
  add(0);
  add(4'000);
  EXPECT_THAT(all(), ElementsAre(MachineHour{"a", kNovember, 8'000, 2'000}));
}

TEST(MachineFeed, KeepsTheNewestReportOfANode) {
  const auto node = [](int busy) {
    return R"({"metadata":{"name":"n","resourceVersion":"9"},"status":{"gpus":[{"uuid":"GPU-1","usage":{"busyMilliseconds":)" +
           std::to_string(busy) +
           R"(,"sampledMilliseconds":100,"since":"2026-11-01T00:00:00Z","utilizationPercent":7}},)" +
           R"({"uuid":"GPU-2","mig":true}]}})";
  };
  MachineFeed feed;
  ASSERT_TRUE(feed.item(node(1)));
  feed.commit();
  EXPECT_EQ(feed.event("MODIFIED", R"({"type":"MODIFIED","object":)" + node(2) + "}").value_or(""), "9");
  const auto taken = feed.take();
  ASSERT_THAT(taken, SizeIs(1));
  EXPECT_EQ(taken[0].node, "n");
  EXPECT_THAT(taken[0].gpus, ElementsAre(GpuCounters{"GPU-1", "2026-11-01T00:00:00Z", 100, 2}));
  EXPECT_THAT(feed.take(), IsEmpty());
  ASSERT_TRUE(feed.item(node(3)));
  feed.give_back(taken);
  EXPECT_EQ(feed.take()[0].gpus[0].busy, 3) << "there is a newer one";
  feed.give_back(taken);
  EXPECT_EQ(feed.take()[0].gpus[0].busy, 2);
}

// Bob's machine, and one that nobody rents, are measured too.
TEST_F(MachineTime, IsReportedToTheOwner) {
  auto bobs = make_fact("v", 1, {"c"}, 0, 7200);
  bobs.owner = "bob";
  books_.enter({make_fact("u", 1, {"a", "b"}, 0, 7200), bobs});
  for (const std::string node : {"a", "b", "c", "idle"}) {
    report(node, "s", 0, 0, kNovember);
    report(node, "s", 3'600'000, node == "a" ? 900'000 : 0, kNovember);
  }
  const auto november = *base::parse_month("2026-11");
  const auto alices = make_machine_report(*books_, times_, november, "alice");
  ASSERT_TRUE(alices);
  EXPECT_THAT(alices->machines, ElementsAre(MachineLine{"a", "alice", 3'600'000, 900'000, 7'200'000},
                                            MachineLine{"b", "alice", 3'600'000, 0, 7'200'000}));
  EXPECT_EQ(alices->payout.totals.at("EUR"), 12'960'000);
  const auto text = as_text(*alices);
  EXPECT_THAT(text, HasSubstr("Machines of owner alice, 2026-11 (UTC), in GPU-hours\n"));
  EXPECT_THAT(text, HasSubstr("       2.000       1.000       0.250    25 %\n"));
  EXPECT_THAT(text, HasSubstr("team-a/job-u of alice"));
  EXPECT_THAT(as_json(*alices), HasSubstr(R"("busyGpuHours": "0.250000")"));
  const auto all = make_machine_report(*books_, times_, november, "");
  ASSERT_THAT(all->machines, SizeIs(4));
  EXPECT_EQ(all->machines[3], (MachineLine{"idle", "", 3'600'000, 0, 0}));
  EXPECT_THAT(make_machine_report(*books_, times_, *base::parse_month("2026-12"), "alice")->machines,
              IsEmpty());
}

}  // namespace
}  // namespace gpupool::ledger
