// SPDX-License-Identifier: Apache-2.0
// Pools that rent whole GPUs one by one (spec.sharing.unit GPU).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <deque>

#include "api/v1alpha1/names.h"
#include "api/v1alpha1/reasons.h"
#include "planning/job/job_validation.h"
#include "planning/nodes/pool_validation.h"
#include "planning/pool/pool_status.h"
#include "tests/support/whole_queue.h"
#include "tests/unit/planning/builders.h"
#include "tests/unit/planning/waits.h"

namespace gpupool::planning {
namespace {

using test::share;
using testing::ElementsAre;
using testing::HasSubstr;
namespace reason = api::reason;

api::GpuPool renting_pool() {
  auto pool = test::make_sharing_pool();
  pool.spec.sharing->unit = api::sharing_unit::kGpu;
  return pool;
}

class SingleGpus : public testing::Test {
 protected:
  // held: GPUs of a foreign pod. workers: GPUs of each worker there.
  void add_node(const std::string& name, std::int64_t gpus, std::int64_t held = 0,
                const std::vector<std::int64_t>& workers = {}) {
    auto node = test::make_node(name, gpus);
    node.spec.taints.push_back({api::kPoolTaint, "lab", api::kNoSchedule});
    node.metadata.labels[api::kMemberLabel] = node.metadata.uid;
    Occupants occupants;
    for (std::size_t i = 0; i < workers.size(); ++i) {
      if (i % 2 == 0) {
        occupants.reserved.push_back(workers[i]);
      } else {
        occupants.pods.push_back({"ns", "pod-" + std::to_string(i), workers[i]});
      }
    }
    ForeignShare foreign;
    foreign.gpus = held;
    if (held > 0) foreign.gpu_pod = "team/train";
    nodes_.push_back(describe_node_of_gpus(node, pool_, occupants, foreign));
    nodes_.back().node.object = share(node);
  }
  api::GpuJob& add(const std::string& name, std::int64_t gpus, std::int64_t per_worker) {
    jobs_.push_back(test::make_job(name, gpus, per_worker));
    jobs_.back().metadata.creation_timestamp = test::at(static_cast<std::int64_t>(jobs_.size()));
    return jobs_.back();
  }
  Verdict verdict(const std::string& name) const {
    test::Jobs queue;
    for (const auto& job : jobs_) queue.push_back(share(job));
    return plan_slices(pool_, nodes_, test::line_of(queue)).at({"ns", name});
  }
  // "a x 2": two workers on a.
  std::vector<std::string> nodes_of(const std::string& name) const {
    std::vector<std::string> all;
    for (const auto& ref : verdict(name).nodes) all.push_back(ref.name + " x " + std::to_string(ref.workers));
    return all;
  }
  api::GpuPoolStatus status() const { return make_pool_status(pool_, {}, nodes_, {}, test::at(0)); }

  api::GpuPool pool_ = renting_pool();
  std::vector<SharedNode> nodes_;
  std::deque<api::GpuJob> jobs_;
};

TEST_F(SingleGpus, WorkersAreSideBySide) {
  add_node("a", 8);
  add_node("b", 8);
  for (const std::int64_t gpus : {1, 2, 4, 1}) add("of-" + std::to_string(jobs_.size()), gpus, gpus);
  for (const auto* name : {"of-0", "of-1", "of-2", "of-3"}) EXPECT_THAT(nodes_of(name), ElementsAre("a x 1"));
  add("eight", 8, 8);
  EXPECT_THAT(nodes_of("eight"), ElementsAre("b x 1"));
  EXPECT_EQ(verdict("eight").slices, 8);
  EXPECT_EQ(verdict("eight").unit, api::sharing_unit::kGpu);
  add("late", 1, 1);
  EXPECT_THAT(verdict("late"),
              test::waits_with(HasSubstr("waiting in pool lab for GPUs for 1 worker with 1 GPU")));
}

TEST_F(SingleGpus, TheFullestNodeThatSufficesIsTaken) {
  add_node("a", 8);
  add_node("b", 8, 0, {3, 2});
  add("two", 2, 2);
  EXPECT_THAT(nodes_of("two"), ElementsAre("b x 1"));
  add("two-more", 2, 2);
  EXPECT_THAT(nodes_of("two-more"), ElementsAre("a x 1"));
}

TEST_F(SingleGpus, AGangHasSeveralWorkersOnANode) {
  add_node("a", 8, 0, {2});
  add_node("b", 8);
  add("gang", 12, 3);
  EXPECT_THAT(nodes_of("gang"), ElementsAre("a x 2", "b x 2"));
}

TEST_F(SingleGpus, ThoseOfForeignPodsAreNeitherGivenNorReserved) {
  add_node("a", 8, 3);
  add("eight", 8, 8);
  EXPECT_THAT(verdict("eight"), test::waits_with(HasSubstr("only with nodes that are not ready")));
  EXPECT_THAT(verdict("eight").message, HasSubstr("or with GPUs that pods of others hold"));
  add("five", 5, 5);
  EXPECT_THAT(nodes_of("five"), ElementsAre("a x 1"));
}

TEST_F(SingleGpus, ALargeJobReservesWhatItWaitsFor) {
  add_node("a", 8, 0, {1});
  add("eight", 8, 8);
  add("one", 1, 1);
  EXPECT_THAT(verdict("eight"), test::WaitsAsFirst());
  EXPECT_THAT(verdict("one"), test::WaitsBehindOthers());
}

TEST_F(SingleGpus, TooLargeSaysWhatTheLargestNodeHas) {
  add_node("a", 2);
  add_node("b", 4);
  add("five", 5, 5);
  EXPECT_EQ(verdict("five").reason, reason::kTooLarge);
  EXPECT_THAT(verdict("five").message, HasSubstr("1 worker with 5 GPUs: the largest node has 4 GPUs"));
}

TEST_F(SingleGpus, ThePoolsStatusCountsGpus) {
  add_node("a", 8, 3, {2});
  add_node("b", 4, 0, {1, 3});
  add_node("c", 0);
  const auto now = status();
  EXPECT_FALSE(now.slices.has_value());
  EXPECT_EQ(now.gpus.total, 12);
  EXPECT_EQ(now.gpus.leased, 6);
  EXPECT_EQ(now.gpus.available, 3);
  EXPECT_EQ(now.nodes.available, 1);
  EXPECT_EQ(now.nodes.leased, 2);
  ASSERT_EQ(now.excluded.size(), 2U);
  EXPECT_EQ(now.excluded[0].reason, "3 of 8 GPUs are held by pods of others (team/train)");
  EXPECT_EQ(now.excluded[1].reason, "has no allocatable nvidia.com/gpu");
}

TEST_F(SingleGpus, SpecGpusOfThePoolCounts) {
  pool_.spec.gpus.models = {"B"};
  add_node("a", 8);
  add("one", 1, 1);
  EXPECT_TRUE(verdict("one").nodes.empty());
  EXPECT_THAT(nodes_[0].unusable, HasSubstr("model A is not in spec.gpus.models"));
}

TEST(RentingPool, ItsJobsAreThoseOfAPoolOfNodes) {
  const auto pool = renting_pool();
  EXPECT_EQ(pool.spec.worker_resource(), "nvidia.com/gpu");
  auto job =
      test::with_template(test::make_job("job", 2, 2), "", R"("resources":{"limits":{"nvidia.com/gpu":2}})");
  for (const auto& each : {pool, test::make_pool()}) EXPECT_FALSE(validate_job(job, &each).has_value());
  job.spec.gpus_per_worker = job.spec.gpus = 1;
  EXPECT_TRUE(validate_job(job, &pool).has_value()) << "the template asks for two";
  job = test::make_job();
  job.spec.slice = api::JobSlice{"", {}, 1};
  ASSERT_TRUE(validate_job(job, &pool).has_value());
  EXPECT_EQ(validate_job(job, &pool)->reason, reason::kSliceInExclusivePool);
}

TEST(RentingPool, CutsNothing) {
  auto pool = renting_pool();
  EXPECT_FALSE(validate_pool(pool).has_value());
  pool.spec.sharing->device_split_count = 2;
  ASSERT_TRUE(validate_pool(pool).has_value());
  EXPECT_THAT(validate_pool(pool)->message, HasSubstr("deviceSplitCount"));
  pool.spec.sharing->unit = api::sharing_unit::kSlice;
  EXPECT_FALSE(validate_pool(pool).has_value());
  pool.spec.sharing->unit = "Node";
  EXPECT_TRUE(validate_pool(pool).has_value());
}

}  // namespace
}  // namespace gpupool::planning
