// SPDX-License-Identifier: Apache-2.0
#include "planning/billing/bill_record.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>

#include "api/v1alpha1/gpu_bill_record.h"
#include "planning/billing/job_bill.h"

namespace gpupool::planning {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

base::WallTime at(std::int64_t second) { return base::WallTime(std::chrono::seconds(second)); }

// So many segments of a second each.
api::JobBill bill_of(std::int64_t segments) {
  api::JobBill bill;
  api::BillTerms terms;
  terms.currency = "EUR";
  terms.per_gpu_hour = "1";
  terms.gpus = 1;
  for (std::int64_t i = 0; i < segments; ++i) {
    open_bill(bill, {{"n", terms}});
    begin_time(bill, at(i));
    leave_bill(bill, {"n"}, {"n"}, [&](const std::string&) { return at(i + 1); });
  }
  return bill;
}

TEST(BillRecord, NamesTheJobAndItsNodes) {
  api::GpuJob job;
  job.metadata.name = "train";
  job.metadata.ns = "team-a";
  job.metadata.uid = "uid-1";
  job.status.progress.emplace();
  job.status.progress->bill.emplace() = bill_of(2);
  job.status.progress->bill->open.resize(1);
  job.status.lease.emplace();
  job.status.lease->nodes = {{"n", "uid-n"}};
  const auto record = base::json::read<api::GpuBillRecord>(bill_record(job));
  ASSERT_TRUE(record) << record.error().message;
  EXPECT_EQ(record->metadata.name, "uid-1.2");
  EXPECT_EQ(record->spec.ns, "team-a");
  EXPECT_EQ(record->spec.job, "train");
  EXPECT_EQ(record->spec.job_uid, "uid-1");
  ASSERT_EQ(record->spec.bill.segments.size(), 2U);
  EXPECT_THAT(record->spec.bill.segments[1].nodes, ElementsAre("n")) << "no lease names them any more";
  EXPECT_THAT(record->spec.bill.open, IsEmpty());
}

TEST(Segments, TheOldestGoButNoneThatWasNotWritten) {
  auto bill = bill_of(40);
  drop_oldest_segments(bill, 5);
  EXPECT_EQ(bill.segments.front().number, 6) << "6 and later ones were in no status yet";
  drop_oldest_segments(bill, 40);
  EXPECT_EQ(bill.segments.size(), kMaxSegments);
  EXPECT_EQ(bill.segments.back().number, 40);
  EXPECT_EQ(bill.segment_count, 40);
}

TEST(Segments, AreDroppedOnlyIfTheFirstOneGoes) {
  const auto before = bill_of(3);
  auto after = bill_of(4);
  EXPECT_FALSE(drops_segments(&before, &after));
  after.segments.erase(after.segments.begin());
  EXPECT_TRUE(drops_segments(&before, &after));
  EXPECT_TRUE(drops_segments(&before, nullptr));
  EXPECT_FALSE(drops_segments(nullptr, &after));
}

}  // namespace
}  // namespace gpupool::planning
