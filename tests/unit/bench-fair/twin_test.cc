// SPDX-License-Identifier: Apache-2.0
#include "bench/fair/workload/twin.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "bench/fair/workload/declare.h"

namespace gpupool::bench::fair {
namespace {

constexpr Seconds kDays = 30;

Workload make(std::uint64_t seed = 1) { return *declare(make_twin(440, kDays, 90, seed), seed); }

std::int64_t work(const Workload& workload) {
  std::int64_t sum = 0;
  for (const auto& job : workload.jobs) sum += job.gpus * job.seconds;
  return sum;
}

// Deviation of the gaps between a tenant's arrivals, divided by their mean.
double variation(const Workload& workload, std::size_t tenant) {
  std::vector<double> gaps;
  Seconds before = -1;
  for (const auto& job : workload.jobs) {
    if (job.tenant != tenant) continue;
    if (before >= 0) gaps.push_back(static_cast<double>(job.arrival - before));
    before = job.arrival;
  }
  double sum = 0;
  double squares = 0;
  for (const auto gap : gaps) {
    sum += gap;
    squares += gap * gap;
  }
  const auto count = static_cast<double>(gaps.size());
  return std::sqrt(squares / count - sum * sum / count / count) / (sum / count);
}

TEST(FairTwin, IsTheSameForASeed) {
  const auto jobs = [](std::uint64_t seed) {
    std::vector<std::tuple<Seconds, std::int64_t, Seconds, Seconds, Seconds>> found;
    for (const auto& job : make(seed).jobs)
      found.emplace_back(job.arrival, job.gpus, job.seconds, job.bound, job.checkpoint);
    return found;
  };
  EXPECT_EQ(jobs(1), jobs(1));
  EXPECT_NE(jobs(1), jobs(2));
}

TEST(FairTwin, IsAsTheTrace) {
  const auto workload = make();
  EXPECT_NEAR(static_cast<double>(work(workload)) / (440.0 * kDays * 86400), 0.9, 0.01);
  EXPECT_NEAR(static_cast<double>(workload.jobs.size()), 4857, 500);
  EXPECT_EQ(workload.tenants.size(), 11U);
  for (std::size_t tenant = 0; tenant < 9; ++tenant) {
    EXPECT_GT(variation(workload, tenant), 1.3) << tenant;
    EXPECT_LT(variation(workload, tenant), 12) << tenant;
  }
  const auto close = std::ranges::count_if(workload.jobs, [&](const Job& job) { return job.gpus == 1; });
  EXPECT_NEAR(static_cast<double>(close) / static_cast<double>(workload.jobs.size()), 0.65, 0.08);
}

TEST(FairTwin, JobsDeclareWhatTheyAreSaidTo) {
  const auto workload = make();
  const auto part = [&](auto&& has) {
    return static_cast<double>(std::ranges::count_if(workload.jobs, has)) /
           static_cast<double>(workload.jobs.size());
  };
  EXPECT_NEAR(part([](const Job& job) { return job.bound > 0; }), 0.6, 0.03);
  EXPECT_NEAR(part([](const Job& job) { return job.preemptible; }), 0.6, 0.03);
  EXPECT_NEAR(part([](const Job& job) { return job.checkpoint > 0; }), 0.42, 0.03);
  EXPECT_EQ(part([](const Job& job) { return job.bound > 0 && job.bound < job.seconds; }), 0);
  EXPECT_TRUE(std::ranges::is_sorted(workload.jobs, {}, &Job::arrival));
  for (const auto& tenant : workload.tenants) EXPECT_EQ(tenant.guaranteed, 440 * 60 / 100 / 11);
}

}  // namespace
}  // namespace gpupool::bench::fair
