// SPDX-License-Identifier: Apache-2.0
#include "bench/fair/policies/policies.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "bench/fair/policies/backfill.h"
#include "bench/fair/policies/ledger.h"
#include "bench/fair/workload/declare.h"
#include "bench/fair/workload/twin.h"
#include "tests/unit/bench-fair/jobs.h"

namespace gpupool::bench::fair {
namespace {

using testing::ElementsAre;

std::vector<Seconds> starts_with(const std::string& policy, const Workload& workload) {
  return starts(workload, play(policy, workload));
}

// One GPU of two is held for 100 s; a gang wants both, then a short job and a long one come.
Workload gang_first() {
  return make_workload(2, 1,
                       {{.seconds = 100, .bound = 100},
                        {.arrival = 1, .gpus = 2, .seconds = 10},
                        {.arrival = 2, .seconds = 50, .bound = 50},
                        {.arrival = 3, .seconds = 200, .bound = 200}});
}

TEST(FairPolicies, FifoIsTheOperatorsStrictQueue) {
  EXPECT_THAT(starts_with("fifo", gang_first()), ElementsAre(0, 100, 110, 110));
}

TEST(FairPolicies, EasyFillsWhatTheGangDoesNotNeedYet) {
  EXPECT_THAT(starts_with("fifo+easy", gang_first()), ElementsAre(0, 100, 2, 110));
  EXPECT_THAT(starts_with("reference", gang_first()), ElementsAre(0, 100, 2, 110));
  EXPECT_THAT(starts_with("gpupool", gang_first()), ElementsAre(0, 100, 2, 110));
}

TEST(FairPolicies, NothingIsFilledWhereTheEndIsNotKnown) {
  auto workload = gang_first();
  workload.jobs[0].bound = 0;
  EXPECT_THAT(starts_with("fifo+easy", workload), ElementsAre(0, 100, 110, 110));
}

// One tenant sends many jobs; a second one's single job comes later. In the reference, the reservation of the
// third job comes first.
TEST(FairPolicies, FairOnesLetAnotherTenantIn) {
  std::vector<Job> jobs(6, Job{.seconds = 100});
  jobs[1].seconds = 150;
  jobs.push_back({.tenant = 1, .arrival = 5, .seconds = 100});
  const auto workload = make_workload(2, 2, jobs);
  EXPECT_EQ(starts_with("fifo", workload).back(), 300);
  EXPECT_EQ(starts_with("kueue-like", workload).back(), 100);
  EXPECT_EQ(starts_with("slurm-like", workload).back(), 100);
  EXPECT_EQ(starts_with("reference", workload).back(), 150);
  EXPECT_EQ(starts_with("gpupool", workload).back(), 150);
}

// A borrower holds all; the owner of a guarantee gets it back, after the guard.
TEST(FairPolicies, GuaranteesAreTakenBack) {
  const auto workload = make_workload(2, 2,
                                      {{.seconds = 20000, .preemptible = true, .checkpoint = 600},
                                       {.seconds = 20000, .preemptible = true, .checkpoint = 600},
                                       {.tenant = 1, .arrival = 10, .seconds = 100}},
                                      1);
  EXPECT_EQ(starts_with("kueue-like", workload)[2], 10);
  EXPECT_EQ(starts_with("reference", workload)[2], 3600);
  EXPECT_EQ(starts_with("reference-order", workload)[2], 20000);
}

// The first job's tenant is above its guarantee with a second job that may not be preempted.
TEST(FairPolicies, WhoIsCoveredDoesNotYield) {
  const auto workload = make_workload(2, 2,
                                      {{.seconds = 9000, .preemptible = true, .checkpoint = 600},
                                       {.seconds = 9000},
                                       {.tenant = 1, .arrival = 10, .seconds = 100}},
                                      1);
  EXPECT_EQ(starts_with("reference", workload)[2], 9000);
}

// The claimant would hold as much as its victim's tenant had, which only the second strategy of Kueue minds.
TEST(FairPolicies, KueueDoesNotPreemptForNoGain) {
  const auto workload = make_workload(4, 2,
                                      {{.gpus = 4, .seconds = 9000, .preemptible = true},
                                       {.tenant = 1, .arrival = 10, .gpus = 4, .seconds = 100}});
  EXPECT_EQ(starts_with("kueue-like", workload)[1], 9000);
}

TEST(FairPolicies, TheLedgerDoesNotDependOnWhoLooks) {
  Ledger looked_at(1, 604800);
  Ledger left_alone(1, 604800);
  looked_at.set_rate(0, 1000);
  left_alone.set_rate(0, 1000);
  for (Seconds now = 0; now <= 604800; now += 77) looked_at.advance(now);
  looked_at.advance(604800);
  left_alone.advance(604800);
  EXPECT_EQ(looked_at.usage(0), left_alone.usage(0));
  EXPECT_NEAR(static_cast<double>(left_alone.usage(0) / left_alone.memory()), 500, 2)
      << "after one half-life, half of what is held";
}

TEST(FairPolicies, AllPlayTheTwinToItsEnd) {
  const auto workload = *declare(make_twin(44, 6, 110, 3), 3);
  for (const auto& name : policy_names()) {
    const auto outcome = play(name, workload);
    EXPECT_EQ(outcome.broken_promises, 0) << name;
    for (const auto& job : outcome.jobs) ASSERT_EQ(job.phase, Cluster::Phase::kDone) << name;
  }
}

}  // namespace
}  // namespace gpupool::bench::fair
