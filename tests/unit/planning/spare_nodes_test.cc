// SPDX-License-Identifier: Apache-2.0
// Pools with spec.spares: what the queue gives, and what replaces a node that a job leaves.
#include "planning/queue/spare_nodes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include "api/v1alpha1/reasons.h"
#include "planning/nodes/pool_validation.h"
#include "planning/queue/replace_nodes.h"
#include "tests/support/whole_queue.h"
#include "tests/unit/planning/builders.h"
#include "tests/unit/planning/waits.h"

namespace gpupool::planning {
namespace {

using test::make_pool_node;
using test::waits_with;
using testing::AllOf;
using testing::ElementsAre;
using testing::EndsWith;
using testing::HasSubstr;
using testing::IsEmpty;
namespace reason = api::reason;

std::vector<std::string> names_of_refs(const std::vector<api::NodeRef>& refs) {
  std::vector<std::string> all;
  for (const auto& ref : refs) all.push_back(ref.name);
  return all;
}

api::GpuPool pool_with_spares(std::int64_t count) {
  auto pool = test::make_pool();
  pool.spec.spares.emplace().nodes = count;
  return pool;
}

class Spares : public testing::Test {
 protected:
  // Jobs in the order of their age.
  void add(const std::string& name, std::int64_t gpus, std::vector<std::string> nodes = {}) {
    auto job = test::make_job(name, gpus);
    job.metadata.creation_timestamp = test::at(static_cast<std::int64_t>(jobs_.size()));
    job.spec.nodes = std::move(nodes);
    jobs_.push_back(test::share(std::move(job)));
  }
  Verdict verdict(const std::string& name) const {
    return test::plan_queue(pool_, nodes_, test::line_of(jobs_)).at({"ns", name});
  }
  std::vector<std::string> nodes_of(const std::string& name) const {
    return names_of_refs(verdict(name).nodes);
  }
  PoolNode& node(const std::string& name) { return *std::ranges::find(nodes_, name, &PoolNode::name); }
  std::vector<std::string> replace(const api::GpuJob& job, const std::vector<std::string>& kept) const {
    return names_of_refs(replace_nodes(pool_, nodes_, job, kept));
  }

  api::GpuPool pool_ = pool_with_spares(1);
  std::vector<PoolNode> nodes_ = {make_pool_node("a"), make_pool_node("b"), make_pool_node("c")};
  test::Jobs jobs_;
};

TEST_F(Spares, TheLastFreeNodeIsNotGiven) {
  for (const auto* name : {"one", "two", "three"}) add(name, 1);
  EXPECT_THAT(nodes_of("one"), ElementsAre("a"));
  EXPECT_THAT(nodes_of("two"), ElementsAre("b"));
  EXPECT_THAT(verdict("three"), waits_with(HasSubstr("for 1 worker with 1 GPU, besides the 1 spare node that "
                                                     "spec.spares of the pool keeps free")));
}

TEST_F(Spares, AGangThatNeedsTheSpareWaitsUntilAnotherNodeIsFree) {
  node("a").leased = true;
  add("gang", 2);
  add("small", 1);
  EXPECT_THAT(verdict("gang"), test::WaitsAsFirst());
  EXPECT_THAT(verdict("small"), test::WaitsBehindOthers());
  node("a").leased = false;
  EXPECT_THAT(nodes_of("gang"), ElementsAre("a", "b"));
}

TEST_F(Spares, AGangThatNeedsTheSpareOfAnEmptyPoolIsTooLarge) {
  add("gang", 3);
  EXPECT_EQ(verdict("gang").reason, reason::kTooLarge);
  EXPECT_THAT(verdict("gang").message,
              EndsWith("for 3 workers with 1 GPU each, besides the 1 spare node that "
                       "spec.spares of the pool keeps free: there is room for 2"));
  pool_.spec.spares->nodes = 3;
  EXPECT_THAT(verdict("gang").message,
              EndsWith("3 spare nodes that spec.spares of the pool keeps free: it has "
                       "no other nodes"));
  pool_.spec.spares->nodes = 0;
  EXPECT_EQ(verdict("gang").nodes.size(), 3U);
}

TEST_F(Spares, AGangThatOnlyNodesOutOfServiceKeepWaitingIsToldSo) {
  node("a").ready = false;
  add("gang", 2);
  EXPECT_THAT(verdict("gang"), waits_with(AllOf(HasSubstr("spec.spares"), HasSubstr("not ready"))));
}

TEST_F(Spares, AfterOneWasUsedJobsWaitUntilItIsMadeUp) {
  node("c").leased = true;  // it replaces a node
  node("b").leased = true;
  add("job", 1);
  EXPECT_THAT(verdict("job"), test::WaitsAsFirst()) << "a is the spare now";
  node("b").leased = false;
  EXPECT_THAT(nodes_of("job"), ElementsAre("a"));
}

TEST_F(Spares, AnotherNodeTakesThePlaceOfOneThatCannotBeUsed) {
  for (const auto* name : {"one", "two"}) add(name, 1);
  const auto only_one_starts = [&](const auto& change) {
    auto& last = node("c");
    const auto before = last;
    change(last);
    EXPECT_THAT(nodes_of("one"), ElementsAre("a"));
    EXPECT_EQ(verdict("two").reason, reason::kWaitingForNodes) << "b is the spare";
    last = before;
  };
  only_one_starts([](PoolNode& last) { last.ready = false; });
  only_one_starts([](PoolNode& last) { last.cordoned = true; });
  only_one_starts([](PoolNode& last) { last.draining = true; });
  only_one_starts([](PoolNode& last) { last.foreign_taints = {{"team", "x", "NoSchedule"}}; });
  only_one_starts([](PoolNode& last) { last.gpus = 0; });
  pool_.spec.gpus.models = {"A"};
  only_one_starts([](PoolNode& last) { last.model = "B"; });
}

TEST_F(Spares, WhereEveryNodeIsTaintedTaintedOnesAreSpares) {
  for (auto& each : nodes_) each.foreign_taints = {{"gpu", "", "NoSchedule"}};
  auto job = test::with_template(test::make_job("job", 3), R"("tolerations":[{"operator":"Exists"}])");
  jobs_.push_back(test::share(job));
  EXPECT_EQ(verdict("job").reason, reason::kTooLarge);
  node("a").foreign_taints.clear();
  jobs_ = {
      test::share(test::with_template(test::make_job("job", 2), R"("tolerations":[{"operator":"Exists"}])"))};
  EXPECT_THAT(nodes_of("job"), ElementsAre("b", "c")) << "a is of use to more jobs";
}

TEST_F(Spares, TheLastByNameAreKeptWhateverTheirSize) {
  node("c") = make_pool_node("c", 8);
  auto job = test::make_job("large", 8, 8);
  jobs_ = {test::share(job)};
  EXPECT_EQ(verdict("large").reason, reason::kTooLarge);
  EXPECT_THAT(verdict("large").message, EndsWith(": the largest node has 1 GPU"));
  nodes_.push_back(make_pool_node("d", 8));
  EXPECT_THAT(nodes_of("large"), ElementsAre("c"));
}

TEST_F(Spares, TheLastByNameMayBeNamedIfAnotherNodeTakesItsPlace) {
  add("named", 1, {"c"});
  for (const auto* name : {"one", "two"}) add(name, 1);
  EXPECT_THAT(nodes_of("named"), ElementsAre("c"));
  EXPECT_THAT(nodes_of("one"), ElementsAre("a"));
  EXPECT_THAT(verdict("two"), waits_with(HasSubstr("spec.spares"))) << "b is the spare";
}

TEST_F(Spares, ANamedNodeIsNotGivenWithoutAnotherForItsPlace) {
  node("a").leased = node("b").leased = true;
  add("named", 1, {"c"});
  EXPECT_THAT(verdict("named"), waits_with(HasSubstr("spec.spares")));
  node("b").leased = false;
  EXPECT_THAT(nodes_of("named"), ElementsAre("c"));
  pool_.spec.spares->nodes = 2;
  EXPECT_THAT(verdict("named"), test::WaitsAsFirst());
  node("a").leased = false;
  EXPECT_THAT(nodes_of("named"), ElementsAre("c"));
  node("a").cordoned = true;
  EXPECT_THAT(verdict("named"), waits_with(HasSubstr("others are not ready, cordoned, drained or tainted")));
  pool_.spec.spares->nodes = 3;
  EXPECT_EQ(verdict("named").reason, reason::kTooLarge);
  EXPECT_THAT(verdict("named").message, HasSubstr("spec.spares"));
}

// It would wait for ever if each node that could be its spare went to a job behind it.
TEST_F(Spares, ANamedJobReservesWhatItsSparesNeed) {
  pool_.spec.spares->nodes = 2;
  nodes_.push_back(make_pool_node("d"));
  node("a").leased = true;
  add("named", 2, {"c", "d"});
  add("small", 1);
  EXPECT_THAT(verdict("named"), test::WaitsAsFirst());
  EXPECT_THAT(verdict("small").nodes, IsEmpty()) << "b will be a spare when named starts";
  node("a").leased = false;
  EXPECT_THAT(nodes_of("named"), ElementsAre("c", "d"));
  EXPECT_THAT(verdict("small").nodes, IsEmpty());
}

// Else a row of such jobs could starve a large one.
TEST_F(Spares, ANamedJobDoesNotMoveSparesToNodesThatALargeJobReserves) {
  nodes_.push_back(make_pool_node("d"));
  node("c").leased = true;
  add("gang", 3);
  add("named", 1, {"d"});
  EXPECT_THAT(verdict("gang"), test::WaitsAsFirst());
  EXPECT_THAT(verdict("named").nodes, IsEmpty());
}

TEST_F(Spares, AReplacementIsASpareOnlyIfNothingElseIsFree) {
  const auto job = test::make_job("job", 1);
  EXPECT_THAT(replace(job, {}), ElementsAre("a"));
  node("a").leased = true;
  EXPECT_THAT(replace(job, {}), ElementsAre("b"));
  node("b").leased = true;
  EXPECT_THAT(replace(job, {}), ElementsAre("c"));
  EXPECT_THAT(replace(test::make_job("gang", 2), {"a"}), ElementsAre("a", "c"));
  for (auto flaw : {&PoolNode::cordoned, &PoolNode::draining, &PoolNode::leased}) {
    node("c").*flaw = true;
    EXPECT_THAT(replace(job, {}), IsEmpty());
    node("c").*flaw = false;
  }
  node("c").ready = false;
  EXPECT_THAT(replace(job, {}), IsEmpty()) << "a spare that is lost itself";
}

TEST_F(Spares, AReplacementNearTheOthersIsWorthASpare) {
  const auto in_rack = [&](const std::string& name, const std::string& rack) {
    auto labelled = test::make_node(name);
    labelled.metadata.labels["rack"] = rack;
    node(name) = make_pool_node(labelled);
  };
  in_rack("a", "1");
  in_rack("b", "2");
  in_rack("c", "1");
  node("a").leased = true;
  auto job = test::make_job("gang", 2);
  job.spec.near.emplace().labels = {"rack"};
  EXPECT_THAT(replace(job, {"a"}), ElementsAre("a", "c"));
  node("c").leased = true;
  EXPECT_THAT(replace(job, {"a"}), ElementsAre("a", "b"));
}

TEST_F(Spares, TwoDrainsDoNotGiveEachTheOthersNode) {
  node("a").leased = node("b").leased = true;
  node("a").draining = node("b").draining = true;
  EXPECT_THAT(replace(test::make_job("of-a", 1), {}), ElementsAre("c"));
  node("c").leased = true;
  EXPECT_THAT(replace(test::make_job("of-b", 1), {}), IsEmpty());
  node("a").draining = false;  // it is taken back
  node("a").leased = false;
  EXPECT_THAT(replace(test::make_job("of-b", 1), {}), ElementsAre("a"));
}

TEST_F(Spares, BackupNodesAreTriedInTheirOrder) {
  nodes_.push_back(make_pool_node("d"));
  node("a").leased = true;
  auto job = test::make_job("job", 2);
  job.spec.nodes = {"a", "b"};
  node("b").ready = false;
  job.spec.backup_nodes = std::vector<std::string>{"z", "d", "c"};
  EXPECT_THAT(replace(job, {"a"}), ElementsAre("a", "d")) << "z is not in the pool; d may be a spare";
  node("d").draining = true;
  EXPECT_THAT(replace(job, {"a"}), ElementsAre("a", "c"));
  node("c").foreign_taints = {{"team", "x", "NoSchedule"}};
  EXPECT_THAT(replace(job, {"a"}), IsEmpty());
  node("d").draining = false;
  EXPECT_THAT(replace(job, {}), IsEmpty()) << "one is too few for two workers";
  node("c").foreign_taints.clear();
  EXPECT_THAT(replace(job, {}), ElementsAre("c", "d"));
  node("b").ready = true;
  EXPECT_THAT(replace(job, {"a"}), ElementsAre("a", "b")) << "it has come back";
  node("b").leased = node("d").leased = node("c").leased = true;
  EXPECT_THAT(replace(job, {"a"}), IsEmpty());
  job.spec.backup_nodes.reset();
  node("b").leased = false;
  EXPECT_THAT(replace(job, {"a"}), IsEmpty()) << "as before there were backup nodes";
}

TEST_F(Spares, BackupNodesHaveRoomAndTheModelOfTheOthers) {
  pool_.spec.gpus.homogeneous = true;
  node("b") = make_pool_node("b", 1, "B");
  node("c") = make_pool_node("c", 4);
  auto job = test::make_job("job", 3, 1);
  job.spec.nodes = {"a", "x", "y"};
  job.spec.backup_nodes = std::vector<std::string>{"b", "c"};
  node("a").leased = true;
  EXPECT_THAT(replace(job, {"a"}), ElementsAre("a", "c")) << "both other workers fit on c";
  auto wide = test::make_job("wide", 8, 4);
  wide.spec.nodes = {"c", "x"};
  wide.spec.backup_nodes = std::vector<std::string>{"a"};
  EXPECT_THAT(replace(wide, {"c"}), IsEmpty()) << "a is too small";
}

TEST(PoolSpares, AreForExclusivePools) {
  auto pool = pool_with_spares(2);
  EXPECT_EQ(validate_pool(pool), std::nullopt);
  pool.spec.spares->nodes = -1;
  ASSERT_TRUE(validate_pool(pool));
  EXPECT_THAT(validate_pool(pool)->message, HasSubstr("spec.spares.nodes"));
  auto sharing = test::make_sharing_pool();
  sharing.spec.spares.emplace().nodes = 1;
  ASSERT_TRUE(validate_pool(sharing));
  EXPECT_EQ(validate_pool(sharing)->reason, reason::kInvalidSpec);
  EXPECT_THAT(validate_pool(sharing)->message, HasSubstr("spec.spares"));
}

// Below `end`; as often small as large.
int pick(int end) { return *rc::gen::resize(rc::kNominalSize, rc::gen::inRange(0, end)); }

struct RandomPool {
  std::vector<PoolNode> nodes;
  test::Jobs jobs;
};

RandomPool random_pool() {
  RandomPool made;
  const int nodes = pick(9);
  const int jobs = 1 + pick(7);
  for (int i = 0; i < nodes; ++i) {
    auto& node = made.nodes.emplace_back(make_pool_node(
        "n" + std::to_string(i), pick(4), *rc::gen::weightedElement<std::string>({{4, "A"}, {1, "B"}})));
    const int flaw = pick(12);
    node.leased = flaw < 3;
    node.ready = flaw != 3;
    node.cordoned = flaw == 4;
    node.draining = flaw == 5;
    if (flaw == 6) node.foreign_taints = {{"team", "x", "NoSchedule"}};
  }
  for (int i = 0; i < jobs; ++i) {
    auto job = test::make_job("j" + std::to_string(i), 1 + pick(4), 1 + pick(2));
    job.spec.priority = pick(2);
    if (pick(4) == 0) job.spec.nodes = {"n" + std::to_string(pick(9))};
    if (pick(4) == 0) job = test::with_template(std::move(job), R"("tolerations":[{"operator":"Exists"}])");
    made.jobs.push_back(test::share(std::move(job)));
  }
  return made;
}

std::int64_t count_free(const std::vector<PoolNode>& nodes, const api::PoolGpus& wanted, bool untainted) {
  return std::ranges::count_if(nodes, [&](const PoolNode& node) {
    return !node.leased && may_be_spare(node, wanted) && (!untainted || node.foreign_taints.empty());
  });
}

RC_GTEST_PROP(SparesProperty, StayFreeWhateverIsGiven, ()) {
  const std::int64_t spares = pick(4);
  auto pool = pool_with_spares(spares);
  pool.spec.gpus.homogeneous = *rc::gen::arbitrary<bool>();
  if (pick(3) == 0) pool.spec.gpus.models = {"A"};
  auto [nodes, jobs] = random_pool();
  const auto before = count_free(nodes, pool.spec.gpus, false);
  const auto untainted = count_free(nodes, pool.spec.gpus, true);
  auto verdicts = test::plan_queue(pool, nodes, test::line_of(jobs));
  bool any = false;
  for (const auto& [job, verdict] : verdicts) {
    for (const auto& ref : verdict.nodes) {
      auto& node = *std::ranges::find(nodes, ref.name, &PoolNode::name);
      RC_ASSERT(!node.leased);
      node.leased = true;
      any = true;
    }
  }
  RC_CLASSIFY(any && spares > 0, "gave some");
  RC_ASSERT(count_free(nodes, pool.spec.gpus, false) >= std::min(before, spares));
  RC_ASSERT(count_free(nodes, pool.spec.gpus, true) >= std::min(untainted, spares));
  if (before <= spares) RC_ASSERT(!any);
}

// A job that waits gets its nodes when all others have left.
RC_GTEST_PROP(SparesProperty, WhoWaitsInLineFitsIntoTheEmptyPool, ()) {
  const auto pool = pool_with_spares(pick(4));
  auto [nodes, jobs] = random_pool();
  const auto verdicts = test::plan_queue(pool, nodes, test::line_of(jobs));
  for (auto& node : nodes) node.leased = false;
  for (const auto& job : jobs) {
    const auto& verdict = verdicts.at(job->metadata.key());
    const auto alone = test::plan_queue(pool, nodes, test::line_of({job})).at(job->metadata.key());
    const bool in_line = verdict.message.starts_with("waiting in pool");
    RC_ASSERT(alone.nodes.empty() == (verdict.nodes.empty() && !in_line));
  }
}

}  // namespace
}  // namespace gpupool::planning
