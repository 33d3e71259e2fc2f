// SPDX-License-Identifier: Apache-2.0
#include "planning/demand/bids.h"

#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace gpupool::planning {
namespace {

using std::chrono::hours;
using std::chrono::minutes;
using std::chrono::seconds;

constexpr std::int64_t kOneHour = 3600;

base::WallTime noon() { return base::WallTime(hours(1000)); }

// Came an hour ago, and waits.
api::GpuJob waiting_job() {
  api::GpuJob job;
  job.metadata.name = "j";
  job.metadata.ns = "team";
  job.metadata.creation_timestamp = noon() - hours(1);
  job.spec.pool = "p";
  job.spec.gpus = 1;
  job.spec.max_price_per_gpu_hour = std::string("1.50");
  return job;
}

api::GpuJob running_job(base::WallTime::duration since) {
  auto job = waiting_job();
  job.status.lease.emplace();
  job.status.start_time = noon() - since;
  return job;
}

class Bids : public testing::Test {
 protected:
  Bids() { pool_.metadata.name = "p"; }

  std::vector<Bid> bids(const api::GpuJob& job) {
    Estimates estimates(history_, noon());
    return bids_of(pool_, {std::make_shared<const api::GpuJob>(job)}, estimates, noon());
  }
  // Of the one bid; -1: there is none.
  std::int64_t gpu_seconds(const api::GpuJob& job) {
    const auto found = bids(job);
    return found.empty() ? -1 : found.front().gpu_seconds;
  }

  api::GpuPool pool_;
  RunTimes::ByKind history_;
};

TEST_F(Bids, AWaitingJobAsksForAsLongAsItsKindHasRun) {
  auto job = waiting_job();
  EXPECT_EQ(gpu_seconds(job), kOneHour) << "nothing is known";
  job.spec.active_deadline_seconds = 600;
  EXPECT_EQ(gpu_seconds(job), 600);
  history_[RunTimes::kind_of(job)] = {seconds(50), seconds(100), seconds(5000)};
  EXPECT_EQ(gpu_seconds(job), 100) << "the median";
  EXPECT_EQ(bids(job).front().highest, 1'500'000);
}

TEST_F(Bids, ARunningJobAsksForAtLeastWhatItHasHeld) {
  EXPECT_EQ(gpu_seconds(running_job(minutes(10))), kOneHour);
  EXPECT_EQ(gpu_seconds(running_job(hours(3))), 3 * kOneHour);
}

TEST_F(Bids, AnEndedJobAskedForWhatItHeld) {
  auto job = running_job(minutes(50));
  job.status.lease.reset();
  job.status.completion_time = noon() - minutes(30);
  EXPECT_EQ(gpu_seconds(job), 20 * 60);
  job.status.start_time.reset();
  EXPECT_EQ(gpu_seconds(job), -1) << "it never ran";
}

TEST_F(Bids, OfTheLastHoursAndOfAllThatWait) {
  auto waiting = waiting_job();
  waiting.metadata.creation_timestamp = noon() - hours(7);
  EXPECT_EQ(gpu_seconds(waiting), kOneHour);
  auto running = running_job(hours(1));
  running.metadata.creation_timestamp = noon() - hours(6);
  EXPECT_EQ(gpu_seconds(running), kOneHour);
  running.metadata.creation_timestamp = noon() - hours(6) - seconds(1);
  EXPECT_EQ(gpu_seconds(running), -1);
}

TEST_F(Bids, OthersTellNothing) {
  auto job = waiting_job();
  job.spec.max_price_per_gpu_hour.reset();
  EXPECT_TRUE(bids(job).empty());
  job.spec.max_price_per_gpu_hour = std::string("much");
  EXPECT_TRUE(bids(job).empty());
  job = waiting_job();
  job.spec.suspend = true;
  EXPECT_TRUE(bids(job).empty());
  job = waiting_job();
  job.spec.pool = "other";
  EXPECT_TRUE(bids(job).empty());
}

TEST_F(Bids, AreInUnitsOfThePool) {
  auto job = waiting_job();
  job.spec.gpus = 8;
  job.spec.gpus_per_worker = 4;
  api::GpuPoolStatus counts;
  counts.nodes.ready = 3;
  counts.gpus.total = 24;
  EXPECT_EQ(gpu_seconds(job), 2 * kOneHour) << "nodes";
  EXPECT_EQ(capacity_of(pool_, counts), 3 * 6 * kOneHour);
  pool_.spec.sharing.emplace().unit = api::sharing_unit::kGpu;
  EXPECT_EQ(gpu_seconds(job), 8 * kOneHour) << "GPUs";
  EXPECT_EQ(capacity_of(pool_, counts), 24 * 6 * kOneHour);
  pool_.spec.sharing->unit = api::sharing_unit::kSlice;
  EXPECT_EQ(capacity_of(pool_, counts), 0) << "no slices yet";
  counts.slices = api::PoolSliceCounts{40, 7};
  job.spec.gpus = 2;
  job.spec.gpus_per_worker = 1;
  job.spec.slice.emplace().count = 3;
  EXPECT_EQ(gpu_seconds(job), 6 * kOneHour) << "slices";
  job.spec.slice->count.reset();
  EXPECT_EQ(gpu_seconds(job), 2 * kOneHour) << "not known before it holds some";
  job.status.lease.emplace().slices = 5;
  EXPECT_EQ(gpu_seconds(job), 10 * kOneHour);
  EXPECT_EQ(capacity_of(pool_, counts), 40 * 6 * kOneHour);
}

}  // namespace
}  // namespace gpupool::planning
