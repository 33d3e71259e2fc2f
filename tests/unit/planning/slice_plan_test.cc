// SPDX-License-Identifier: Apache-2.0
#include "planning/queue/slice_plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <deque>

#include "api/v1alpha1/names.h"
#include "api/v1alpha1/reasons.h"
#include "tests/support/whole_queue.h"
#include "tests/unit/planning/builders.h"
#include "tests/unit/planning/waits.h"

namespace gpupool::planning {
namespace {

using test::share;
using test::WaitsAsFirst;
using test::WaitsBehindOthers;
using testing::HasSubstr;
using testing::IsEmpty;
using Refs = std::vector<api::NodeRef>;
namespace reason = api::reason;

class SliceQueue : public testing::Test {
 protected:
  SliceQueue() {
    add_node("a", 1);
    add_node("b", 1);
  }
  void add_node(const std::string& name, std::int64_t gpus) {
    members_.push_back(test::make_shared_member(name, gpus * 10));
    reports_.push_back(test::make_report(name, gpus));
  }
  // Adds a job whose workers get this number of slices each; 0: whole GPUs.
  api::GpuJob& add(const std::string& name, std::int64_t slices, std::int64_t workers = 1) {
    auto job = test::make_job(name, workers);
    job.metadata.creation_timestamp = test::at(static_cast<std::int64_t>(jobs_.size()));
    if (slices > 0) job.spec.slice = api::JobSlice{"", {}, slices};
    jobs_.push_back(job);
    return jobs_.back();
  }
  void occupy(std::size_t node, std::int64_t slices) {
    test::show_pod(reports_.at(node), 0, "other", slices);
  }
  Verdict verdict(const std::string& name) const {
    std::vector<SharedNode> nodes;
    for (std::size_t i = 0; i < members_.size(); ++i) {
      nodes.push_back(describe_shared_node(members_[i], &reports_[i], pool_, {}));
      nodes.back().node.object = share(members_[i]);
    }
    std::vector<std::shared_ptr<const api::GpuJob>> queue;
    for (const auto& job : jobs_) queue.push_back(share(job));
    return plan_slices(pool_, nodes, test::line_of(queue)).at({"ns", name});
  }

  api::GpuPool pool_ = test::make_sharing_pool();
  std::vector<api::Node> members_;
  std::vector<api::GpuNode> reports_;
  std::deque<api::GpuJob> jobs_;
};

TEST_F(SliceQueue, GrantsSlicesWithTheirNodes) {
  add("job", 3);
  EXPECT_EQ(verdict("job").nodes, (Refs{{"a", "uid-a", 1}}));
  EXPECT_EQ(verdict("job").slices, 3);
}

TEST_F(SliceQueue, WhatIsGrantedIsGone) {
  for (int i = 0; i < 21; ++i) add("job" + std::to_string(i), 1);
  EXPECT_EQ(verdict("job9").nodes, (Refs{{"a", "uid-a", 1}}));
  EXPECT_EQ(verdict("job10").nodes, (Refs{{"b", "uid-b", 1}}));
  EXPECT_EQ(verdict("job20").reason, reason::kWaitingForNodes);
}

TEST_F(SliceQueue, AllWorkersOrNone) {
  occupy(0, 8);
  occupy(1, 8);
  add("gang", 2, 3);
  EXPECT_EQ(verdict("gang").reason, reason::kWaitingForNodes);
  EXPECT_THAT(verdict("gang").message, HasSubstr("3 workers with 2 slices each"));
}

TEST_F(SliceQueue, SmallJobsDoNotStarveALargeOne) {
  occupy(0, 1);
  occupy(1, 1);
  add("whole", 0);
  add("small", 1);
  EXPECT_THAT(verdict("whole"), WaitsAsFirst());
  EXPECT_THAT(verdict("small"), WaitsBehindOthers());
}

TEST_F(SliceQueue, WhoWaitsIsToldTheSameWhateverIsFree) {
  add("whole", 0, 2);
  add("small", 1);
  for (int taken = 1; taken < 10; ++taken) {
    occupy(0, 1);
    EXPECT_THAT(verdict("whole"), WaitsAsFirst());
    EXPECT_THAT(verdict("small"), WaitsBehindOthers()) << taken << " slices are taken";
  }
}

TEST_F(SliceQueue, GoesByPriorityFirst) {
  add("old", 10, 2);
  add("urgent", 10, 2).spec.priority = 1;
  EXPECT_EQ(verdict("urgent").nodes.size(), 2U);
  EXPECT_THAT(verdict("old").nodes, IsEmpty());
}

TEST_F(SliceQueue, WhatNeverFitsHoldsNobodyUp) {
  add("huge", 11);
  add("many", 10, 3);
  add("small", 1);
  EXPECT_EQ(verdict("huge").reason, reason::kTooLarge);
  EXPECT_THAT(verdict("huge").message, testing::EndsWith("% cores")) << "what the largest GPU has";
  EXPECT_EQ(verdict("many").reason, reason::kTooLarge);
  EXPECT_EQ(verdict("small").nodes.size(), 1U);
}

TEST_F(SliceQueue, HonoursLabelsAndRequestsOfTheTemplate) {
  members_[1].metadata.labels["zone"] = "b";
  for (auto& member : members_) member.status.allocatable["cpu"] = "8";
  auto& by_label = add("by-label", 1);
  by_label = test::with_template(by_label, R"("nodeSelector":{"zone":"b"})");
  EXPECT_EQ(verdict("by-label").nodes, (Refs{{"b", "uid-b", 1}}));
  auto& spread = add("spread", 1, 3);
  spread = test::with_template(spread, "", R"("resources":{"requests":{"cpu":"4"}})");
  EXPECT_EQ(verdict("spread").nodes, (Refs{{"a", "uid-a", 2}, {"b", "uid-b", 2}})) << "two on each node";
}

TEST_F(SliceQueue, AvoidedNodesAreTakenOnlyIfThereAreNoOthers) {
  const auto taken = [&](std::int64_t workers) {
    auto job = test::make_job("job", workers);
    job.spec.slice = api::JobSlice{"", {}, 10};
    WaitingLine line;
    line.put(share(job), 0, {"a"});
    std::vector<SharedNode> nodes;
    for (std::size_t i = 0; i < members_.size(); ++i)
      nodes.push_back(describe_shared_node(members_[i], &reports_[i], pool_, {}));
    return plan_slices(pool_, nodes, line).at({"ns", "job"}).nodes;
  };
  EXPECT_EQ(taken(1), (Refs{{"b", "uid-b", 1}}));
  EXPECT_EQ(taken(2), (Refs{{"a", "uid-a", 1}, {"b", "uid-b", 1}}));
}

TEST_F(SliceQueue, NamesTheConstraintThatNoNodeMeets) {
  for (auto& member : members_) member.status.allocatable["cpu"] = "8";
  auto& by_label = add("by-label", 1);
  by_label = test::with_template(by_label, R"("nodeSelector":{"zone":"b"})");
  EXPECT_EQ(verdict("by-label").reason, reason::kNoMatchingNode);
  EXPECT_THAT(verdict("by-label").message, HasSubstr("no node of pool lab has label zone=b"));
  auto& large = add("large", 1);
  large = test::with_template(large, "", R"("resources":{"limits":{"cpu":"64"}})");
  EXPECT_EQ(verdict("large").reason, reason::kTooLarge);
  EXPECT_THAT(verdict("large").message, HasSubstr("the largest node has 8 CPUs, a worker asks for 64 CPUs"));
  auto& named = add("named", 1);
  named = test::with_template(named, R"("nodeSelector":{"zone":"b"})");
  named.spec.nodes = {"a"};
  EXPECT_EQ(verdict("named").reason, reason::kNoMatchingNode);
  add("small", 1);
  EXPECT_EQ(verdict("small").nodes, (Refs{{"a", "uid-a", 1}})) << "they hold nobody up";
}

TEST_F(SliceQueue, AJobThatNeedsASickGpuHoldsNobodyUp) {
  reports_[1].status.gpus[0].health = "Unhealthy";
  reports_[1].status.gpus[0].slices.free = 0;
  add("two", 10, 2);
  add("small", 1);
  EXPECT_EQ(verdict("two").reason, reason::kWaitingForNodes);
  EXPECT_THAT(verdict("two").message, HasSubstr("unhealthy"));
  EXPECT_EQ(verdict("small").nodes, (Refs{{"a", "uid-a", 1}}));
}

TEST_F(SliceQueue, OnlyNodesThatAreReadyAndMarked) {
  members_[0].spec.unschedulable = true;
  members_[1].metadata.labels.clear();
  add("job", 1);
  EXPECT_EQ(verdict("job").reason, reason::kWaitingForNodes);
  members_[0].spec.unschedulable = false;
  EXPECT_EQ(verdict("job").nodes, (Refs{{"a", "uid-a", 1}}));
  members_[0].spec.taints.push_back({"team", "x", "NoSchedule"});
  EXPECT_EQ(verdict("job").reason, reason::kWaitingForNodes);
}

TEST_F(SliceQueue, ANodeThatIsDrainedGetsNoMoreWorkers) {
  members_[0].metadata.annotations[api::kDrain] = "2026-11-24T18:00:00Z";
  add("job", 1);
  EXPECT_EQ(verdict("job").nodes, (Refs{{"b", "uid-b", 1}}));
  members_[1].metadata.annotations[api::kDrain] = "";
  EXPECT_EQ(verdict("job").reason, reason::kWaitingForNodes);
  EXPECT_THAT(verdict("job").message, HasSubstr("drained"));
  members_[0].metadata.annotations.clear();
  EXPECT_EQ(verdict("job").nodes, (Refs{{"a", "uid-a", 1}}));
}

TEST_F(SliceQueue, WithoutReportsItSaysWhereToLook) {
  for (auto& report : reports_) report.status.gpus.clear();
  add("job", 1);
  EXPECT_EQ(verdict("job").reason, reason::kWaitingForNodes);
  EXPECT_THAT(verdict("job").message, HasSubstr("status.excluded"));
}

TEST_F(SliceQueue, NamedNodes) {
  auto& job = add("job", 2);
  job.spec.nodes = {"b"};
  EXPECT_EQ(verdict("job").nodes, (Refs{{"b", "uid-b", 1}}));
  occupy(1, 9);
  EXPECT_EQ(verdict("job").reason, reason::kWaitingForNodes);
  job.spec.slice->count = 11;
  EXPECT_EQ(verdict("job").reason, reason::kTooLarge);
  job.spec.nodes = {"z"};
  EXPECT_EQ(verdict("job").reason, reason::kNoSuchNode);
}

TEST_F(SliceQueue, HomogeneousPoolNeverMixesModels) {
  pool_.spec.gpus.homogeneous = true;
  reports_[1].status.gpus[0].model = "B";
  add("job", 10, 2);
  EXPECT_EQ(verdict("job").reason, reason::kNoMatchingModel);
}

}  // namespace
}  // namespace gpupool::planning
