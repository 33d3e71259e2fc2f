// SPDX-License-Identifier: Apache-2.0
#include "planning/queue/queue_plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include "api/v1alpha1/reasons.h"
#include "planning/queue/replace_nodes.h"
#include "tests/support/whole_queue.h"
#include "tests/unit/planning/builders.h"
#include "tests/unit/planning/choose_once.h"
#include "tests/unit/planning/waits.h"

namespace gpupool::planning {
namespace {

using test::make_pool;
using test::make_pool_node;
using test::share;
using test::WaitsAsFirst;
using test::WaitsBehindOthers;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
namespace reason = api::reason;

api::GpuJob make_job(const std::string& name, std::int64_t gpus, std::int64_t age = 0) {
  auto job = test::make_job(name, gpus);
  job.metadata.creation_timestamp = test::at(age);
  return job;
}

std::vector<std::string> names(const std::vector<api::NodeRef>& refs) {
  std::vector<std::string> all;
  for (const auto& ref : refs) all.push_back(ref.name);
  return all;
}

class Queue : public testing::Test {
 protected:
  void add(api::GpuJob job) { jobs_.push_back(share(std::move(job))); }
  Verdict verdict(const std::string& name) const {
    return test::plan_queue(pool_, nodes_, test::line_of(jobs_)).at({"ns", name});
  }

  api::GpuPool pool_ = make_pool();
  std::vector<PoolNode> nodes_ = {make_pool_node("a"), make_pool_node("b")};
  std::vector<std::shared_ptr<const api::GpuJob>> jobs_;
};

TEST_F(Queue, GoesByAge) {
  add(make_job("young", 2, 2));
  add(make_job("old", 1, 1));
  EXPECT_THAT(names(verdict("old").nodes), ElementsAre("a"));
  EXPECT_THAT(verdict("young"), WaitsAsFirst()) << "what was given is as good as leased";
}

TEST_F(Queue, GoesByPriorityFirst) {
  add(make_job("old", 2, 1));
  auto urgent = make_job("urgent", 2, 2);
  urgent.spec.priority = 1;
  add(urgent);
  EXPECT_EQ(verdict("urgent").nodes.size(), 2U);
  EXPECT_THAT(verdict("old").nodes, IsEmpty());
}

TEST_F(Queue, WaitsForLeasedNodes) {
  nodes_[0].leased = true;
  add(make_job("job", 2));
  EXPECT_THAT(verdict("job"), WaitsAsFirst());
}

TEST_F(Queue, SmallJobsDoNotStarveALargeOne) {
  nodes_[0].leased = true;
  add(make_job("large", 2, 1));
  add(make_job("small", 1, 2));
  EXPECT_THAT(verdict("large"), WaitsAsFirst());
  EXPECT_THAT(verdict("small"), WaitsBehindOthers());
}

// Otherwise the status of every waiting job would be written again whenever a job ends.
TEST_F(Queue, WhoWaitsIsToldTheSameWhateverIsFree) {
  add(make_job("large", 3, 1));
  add(make_job("small", 1, 2));
  nodes_.push_back(make_pool_node("c"));
  std::set<std::string> told;
  for (unsigned leased = 1; leased < 8; ++leased) {
    for (unsigned i = 0; i < 3; ++i) nodes_[i].leased = (leased >> i & 1U) != 0;
    EXPECT_THAT(verdict("large"), WaitsAsFirst());
    told.insert(verdict("small").message);
  }
  EXPECT_THAT(told, ElementsAre(HasSubstr("jobs before it")));
}

TEST_F(Queue, WhatNeverFitsHoldsNobodyUp) {
  add(make_job("huge", 3, 1));
  add(make_job("small", 1, 2));
  EXPECT_EQ(verdict("huge").reason, reason::kTooLarge);
  EXPECT_THAT(verdict("huge").message,
              testing::EndsWith("for 3 workers with 1 GPU each: there is room for 2"));
  EXPECT_THAT(names(verdict("small").nodes), ElementsAre("a"));
}

TEST_F(Queue, ToldHowMuchTheLargestNodeHas) {
  auto large = make_job("large", 4);
  large.spec.gpus_per_worker = 4;
  add(large);
  EXPECT_THAT(verdict("large").message,
              testing::EndsWith("for 1 worker with 4 GPUs: the largest node has 1 GPU"));
  nodes_.clear();
  EXPECT_THAT(verdict("large").message, testing::EndsWith("for 1 worker with 4 GPUs: it has no nodes"));
}

TEST_F(Queue, NamedNodesAreTakenExactly) {
  auto job = make_job("job", 1);
  job.spec.nodes = {"b"};
  add(job);
  EXPECT_EQ(verdict("job").nodes, (std::vector<api::NodeRef>{{"b", "uid-b"}}));
}

TEST_F(Queue, NamedNodeOutsideThePool) {
  auto job = make_job("job", 1);
  job.spec.nodes = {"z"};
  add(job);
  EXPECT_EQ(verdict("job").reason, reason::kNoSuchNode);
}

TEST_F(Queue, NamedNodesThatAreTooSmall) {
  auto job = make_job("job", 2);
  job.spec.nodes = {"b"};
  add(job);
  EXPECT_EQ(verdict("job").reason, reason::kTooLarge);
}

TEST_F(Queue, NamedNodesKeepYoungerJobsAway) {
  nodes_[0].leased = true;
  auto job = make_job("named", 2, 1);
  job.spec.nodes = {"a", "b"};
  add(job);
  add(make_job("small", 1, 2));
  EXPECT_THAT(verdict("named"), WaitsAsFirst());
  EXPECT_THAT(verdict("small"), WaitsBehindOthers());
}

TEST_F(Queue, NoNodeHasTheModelThePoolAsksFor) {
  pool_.spec.gpus.models = {"B"};
  add(make_job("job", 1));
  EXPECT_EQ(verdict("job").reason, reason::kNoMatchingModel);
  EXPECT_THAT(verdict("job").message,
              HasSubstr("asks for: a: GPU model A is not in spec.gpus.models; b: GPU"));
}

TEST_F(Queue, HomogeneousPoolNeverMixesModels) {
  pool_.spec.gpus.homogeneous = true;
  nodes_[1].model = "B";
  add(make_job("job", 2));
  EXPECT_EQ(verdict("job").reason, reason::kNoMatchingModel);
  nodes_[1].model = "A";
  EXPECT_EQ(verdict("job").nodes.size(), 2U);
}

TEST_F(Queue, WaitsForANodeThatIsNotReady) {
  nodes_[0].ready = false;
  add(make_job("job", 2));
  EXPECT_EQ(verdict("job").reason, reason::kWaitingForNodes);
}

TEST_F(Queue, ANodeThatIsDrainedIsNotGiven) {
  nodes_[0].draining = true;
  add(make_job("job", 1));
  EXPECT_THAT(names(verdict("job").nodes), ElementsAre("b"));
  add(make_job("gang", 2, -1));
  EXPECT_EQ(verdict("gang").reason, reason::kWaitingForNodes);
  EXPECT_THAT(verdict("gang").message, HasSubstr("only with nodes that are not ready, cordoned, drained"));
  auto named = make_job("named", 1, -2);
  named.spec.nodes = {"a"};
  add(named);
  EXPECT_THAT(verdict("named"), test::waits_with(HasSubstr("not ready, cordoned, drained or tainted")));
}

TEST_F(Queue, ForeignTaintsNeedAToleration) {
  nodes_[0].foreign_taints = {{"team", "x", "NoSchedule"}};
  nodes_[1].leased = true;
  add(make_job("job", 1));
  EXPECT_EQ(verdict("job").reason, reason::kWaitingForNodes);
  auto job = make_job("tolerant", 1, -1);
  job.spec.pod_template.text =
      R"({"spec":{"containers":[],"tolerations":[{"key":"team","operator":"Exists"}]}})";
  add(job);
  EXPECT_THAT(names(verdict("tolerant").nodes), ElementsAre("a"));
}

// A plan answers demands, not single jobs.
TEST_F(Queue, WhoAsksForTheSameIsToldTheSame) {
  nodes_[0].leased = true;
  for (int i = 0; i < 4; ++i) add(make_job("j" + std::to_string(i), 2, i));
  EXPECT_THAT(verdict("j0"), WaitsAsFirst());
  for (const auto* name : {"j1", "j2", "j3"}) EXPECT_THAT(verdict(name), WaitsBehindOthers());
}

TEST_F(Queue, WhoToleratesMoreAsksForSomethingElse) {
  nodes_ = {make_pool_node("a")};
  nodes_[0].foreign_taints = {{"team", "x", "NoSchedule"}};
  add(make_job("first", 1, 0));
  add(make_job("second", 1, 1));
  auto tolerant = make_job("tolerant", 1, 2);
  tolerant.spec.pod_template.text =
      R"({"spec":{"containers":[],"tolerations":[{"key":"team","operator":"Exists"}]}})";
  add(tolerant);
  EXPECT_THAT(names(verdict("tolerant").nodes), ElementsAre("a"));
  EXPECT_EQ(verdict("second").reason, reason::kWaitingForNodes);
}

TEST(ReplaceNodes, KeepsWhatIsLeftAndAddsFreeOnes) {
  std::vector<PoolNode> nodes = {make_pool_node("a"), make_pool_node("b"), make_pool_node("c")};
  nodes[0].leased = nodes[1].leased = true;
  const auto job = test::make_job("job", 2);
  EXPECT_THAT(names(replace_nodes(make_pool(), nodes, job, {"a"})), ElementsAre("a", "c"));
  nodes[2].cordoned = true;
  EXPECT_THAT(replace_nodes(make_pool(), nodes, job, {"a"}), IsEmpty());
  nodes[2].cordoned = false;
  nodes[2].draining = true;
  EXPECT_THAT(replace_nodes(make_pool(), nodes, job, {"a"}), IsEmpty());
  nodes[2].draining = false;
  auto named = job;
  named.spec.nodes = {"a", "b"};
  EXPECT_THAT(replace_nodes(make_pool(), nodes, named, {"a"}), IsEmpty()) << "these nodes or none";
}

TEST(ReplaceNodes, KeepsToOneModelInAHomogeneousPool) {
  auto pool = make_pool();
  pool.spec.gpus.homogeneous = true;
  std::vector<PoolNode> nodes = {make_pool_node("a"), make_pool_node("b", 1, "B"), make_pool_node("c")};
  nodes[0].leased = true;
  EXPECT_THAT(names(replace_nodes(pool, nodes, test::make_job("job", 2), {"a"})), ElementsAre("a", "c"));
}

// A plan grants nodes without examining all nodes for each job.
RC_GTEST_PROP(QueueProperty, EachGetsWhatIsBestOfWhatIsLeft, ()) {
  auto pool = make_pool();
  pool.spec.gpus.homogeneous = *rc::gen::arbitrary<bool>();
  std::vector<PoolNode> nodes;
  const int sizes = *rc::gen::inRange(1, 4);
  for (int i = 0; i < *rc::gen::inRange(0, 30); ++i) {
    nodes.push_back(make_pool_node("n" + std::to_string(100 + i), *rc::gen::inRange(0, sizes) * 2 + 1,
                                   *rc::gen::element("A", "B")));
    nodes.back().leased = *rc::gen::inRange(0, 5) == 0;
  }
  const std::int64_t gpus = *rc::gen::inRange(1, 5), each = *rc::gen::inRange(1, 3);
  std::vector<std::shared_ptr<const api::GpuJob>> jobs;
  for (int i = 0; i < 30; ++i) {
    auto job = test::make_job("j" + std::to_string(100 + i), i % 3 == 0 ? each : gpus * each, each);
    job.metadata.creation_timestamp = test::at(i);
    jobs.push_back(share(job));
  }
  const auto verdicts = test::plan_queue(pool, nodes, test::line_of(jobs));
  for (const auto& job : jobs) {
    const auto& verdict = verdicts.at(job->metadata.key());
    if (verdict.nodes.empty()) break;  // later nodes are reserved
    std::vector<const PoolNode*> left;
    for (const auto& node : nodes) {
      if (!node.leased) left.push_back(&node);
    }
    const auto best = test::choose_once(left, api::worker_count(job->spec), each, pool.spec.gpus.homogeneous);
    RC_ASSERT(best.has_value());
    RC_ASSERT(verdict.nodes == references(*best));
    for (auto& node : nodes) {
      const auto mine = [&](const api::NodeRef& ref) { return ref.name == node.name; };
      node.leased = node.leased || std::any_of(verdict.nodes.begin(), verdict.nodes.end(), mine);
    }
  }
}

RC_GTEST_PROP(QueueProperty, GrantsOnlyUsableNodesAndEachOnce, ()) {
  std::vector<PoolNode> nodes;
  std::map<std::string, PoolNode> by_name;
  for (int i = 0; i < *rc::gen::inRange(0, 9); ++i) {
    auto node = make_pool_node("n" + std::to_string(i), *rc::gen::inRange(0, 5));
    const int flaw = *rc::gen::inRange(0, 10);
    node.leased = flaw == 0;
    node.ready = flaw != 1;
    node.cordoned = flaw == 2;
    node.draining = flaw == 4;
    if (flaw == 3) node.foreign_taints = {{"team", "x", "NoSchedule"}};
    nodes.push_back(node);
    by_name[node.name] = node;
  }
  std::vector<std::shared_ptr<const api::GpuJob>> jobs;
  for (int i = 0; i < *rc::gen::inRange(0, 7); ++i) {
    auto job = make_job("j" + std::to_string(i), *rc::gen::inRange(1, 6), *rc::gen::inRange(0, 3));
    job.spec.priority = *rc::gen::inRange(0, 2);
    jobs.push_back(share(job));
  }
  const auto verdicts = test::plan_queue(make_pool(), nodes, test::line_of(jobs));
  RC_ASSERT(verdicts.size() == jobs.size());
  std::set<std::string> granted;
  for (const auto& job : jobs) {
    const auto& verdict = verdicts.at(job->metadata.key());
    RC_ASSERT(verdict.nodes.empty() != verdict.reason.empty());
    std::int64_t slots = 0;
    for (const auto& ref : verdict.nodes) {
      const auto& node = by_name.at(ref.name);
      RC_ASSERT(granted.insert(ref.name).second);
      RC_ASSERT(node.usable() && !node.leased && node.foreign_taints.empty());
      slots += worker_slots(node, 1, {});
    }
    RC_ASSERT(verdict.nodes.empty() || slots >= job->spec.gpus);
  }
}

}  // namespace
}  // namespace gpupool::planning
