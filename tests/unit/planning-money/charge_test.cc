// SPDX-License-Identifier: Apache-2.0
#include "planning/accounts/charge.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <chrono>

#include "planning/billing/job_bill.h"

namespace gpupool::planning {
namespace {

constexpr std::int64_t kBegin = 1'793'491'200;  // 2026-11-01T00:00:00Z

base::WallTime moment(std::int64_t second) { return base::WallTime(std::chrono::seconds(kBegin + second)); }

Stretch until(std::int64_t second) { return {kBegin, kBegin + second}; }

// Node n has n GPUs for 3.60 each.
PricedNode node(std::int64_t gpus) {
  api::BillTerms terms;
  terms.currency = "EUR";
  terms.per_gpu_hour = "3.60";
  terms.gpus = gpus;
  return {"n" + std::to_string(gpus), terms};
}

// Nodes of 1, 2 and 3 GPUs since second 0; the second one left after 10 s.
api::JobBill bill_with_a_loss() {
  api::JobBill bill;
  open_bill(bill, {node(1), node(2), node(3)});
  begin_time(bill, moment(0));
  leave_bill(bill, {"n2"}, {"n1", "n2", "n3"}, [](const std::string&) { return moment(10); });
  return bill;
}

TEST(Charge, OfWhatEndedAndOfWhatGoesOn) {
  const auto charge = charge_of(bill_with_a_loss(), 2, "EUR");
  EXPECT_EQ(hourly_rate(charge), 4 * 3'600'000);
  EXPECT_EQ(cost_in(charge, until(10), 0), 60'000) << "6 GPUs for 10 s";
  EXPECT_EQ(cost_in(charge, until(100), 0), 20'000 + 400'000);
  EXPECT_EQ(cost_in(charge, until(100), 1), 400'000) << "segment 1 is in the books";
}

TEST(Charge, OfAnotherCurrencyIsNothing) { EXPECT_TRUE(charge_of(bill_with_a_loss(), 2, "USD").empty()); }

TEST(Charge, OnlyWhatFallsIntoTheTime) {
  const auto charge = charge_of(bill_with_a_loss(), 2, "EUR");
  EXPECT_EQ(cost_in(charge, {kBegin + 5, kBegin + 20}, 0), 2 * 5'000 + 4 * 15'000);
  EXPECT_EQ(cost_in(charge, {kBegin + 50, kBegin + 50}, 0), 0);
}

TEST(Charge, NothingBeforeItsTimeHasBegun) {
  api::JobBill bill;
  open_bill(bill, {node(2)});
  const auto charge = charge_of(bill, 1, "EUR");
  EXPECT_EQ(cost_in(charge, until(100), 0), 0);
  EXPECT_EQ(hourly_rate(charge), 2 * 3'600'000) << "it will cost that";
}

TEST(Charge, WhichSegmentsHadEnded) {
  const auto charge = charge_of(bill_with_a_loss(), 2, "EUR");
  EXPECT_EQ(last_ended_by(charge, kBegin + 9), 0);
  EXPECT_EQ(last_ended_by(charge, kBegin + 10), 1);
}

// What the operator counts until now is what the status says once the same time has ended.
RC_GTEST_PROP(Charge, IsWhatTheSegmentsWillCost, ()) {
  const auto gpus = *rc::gen::container<std::vector<std::int64_t>>(rc::gen::inRange<std::int64_t>(1, 9));
  RC_PRE(!gpus.empty());
  const auto end = *rc::gen::inRange<std::int64_t>(0, 1'000'000);
  std::vector<PricedNode> nodes;
  std::vector<std::string> names;
  for (std::size_t i = 0; i < gpus.size(); ++i) {
    nodes.push_back(node(gpus[i]));
    nodes.back().name += "-" + std::to_string(i);
    nodes.back().terms.per_gpu_hour = *rc::gen::element<std::string>("0.000001", "1.20", "3.333333");
    names.push_back(nodes.back().name);
  }
  api::JobBill bill;
  open_bill(bill, nodes);
  begin_time(bill, moment(0));
  const auto open = cost_in(charge_of(bill, std::ssize(names), "EUR"), until(end), 0);
  leave_bill(bill, {names.begin(), names.end()}, names, [&](const std::string&) { return moment(end); });
  const auto closed = cost_in(charge_of(bill, 0, "EUR"), until(end), 0);
  RC_ASSERT(base::micros_text(closed) == (bill.segments.empty() ? "0.000000" : bill.cost));
  // The remainders, which each open part has alone.
  RC_ASSERT(open <= closed);
  RC_ASSERT(closed - open <= std::ssize(gpus));
}

}  // namespace
}  // namespace gpupool::planning
