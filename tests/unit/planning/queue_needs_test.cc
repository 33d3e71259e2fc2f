// SPDX-License-Identifier: Apache-2.0
// What templates ask of nodes, in the queue of an exclusive pool.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/v1alpha1/reasons.h"
#include "planning/queue/replace_nodes.h"
#include "tests/support/whole_queue.h"
#include "tests/unit/planning/builders.h"
#include "tests/unit/planning/waits.h"

namespace gpupool::planning {
namespace {

using test::share;
using testing::ElementsAre;
using testing::HasSubstr;
namespace reason = api::reason;

constexpr char kZoneB[] = R"("nodeSelector":{"zone":"b"})";

std::string cpus(const std::string& count) {
  return R"("resources":{"requests":{"cpu":")" + count + R"("}})";
}

class NeedsInQueue : public testing::Test {
 protected:
  void add_node(const std::string& name, const std::string& zone, const std::string& cpu = "8",
                std::int64_t gpus = 1) {
    auto node = test::make_node(name, gpus);
    node.metadata.labels["zone"] = zone;
    node.status.allocatable["cpu"] = cpu;
    nodes_.push_back(test::make_pool_node(std::move(node)));
  }
  api::GpuJob& add(const std::string& name, std::int64_t gpus, const std::string& pod,
                   const std::string& container = "") {
    auto job = test::with_template(test::make_job(name, gpus), pod, container);
    job.metadata.creation_timestamp = test::at(static_cast<std::int64_t>(jobs_.size()));
    jobs_.push_back(std::make_shared<api::GpuJob>(std::move(job)));
    return *jobs_.back();
  }
  Verdict verdict(const std::string& name) const {
    return test::plan_queue(test::make_pool(), nodes_, test::line_of({jobs_.begin(), jobs_.end()}))
        .at({"ns", name});
  }
  std::vector<std::string> nodes_of(const std::string& name) const {
    std::vector<std::string> names;
    for (const auto& ref : verdict(name).nodes) names.push_back(ref.name);
    return names;
  }

  std::vector<PoolNode> nodes_;
  std::vector<std::shared_ptr<api::GpuJob>> jobs_;
};

TEST_F(NeedsInQueue, NodesWithTheLabelsAreTaken) {
  add_node("a", "a");
  add_node("b", "b");
  add("picky", 1, kZoneB);
  add("any", 1, "");
  EXPECT_THAT(nodes_of("picky"), ElementsAre("b"));
  EXPECT_THAT(nodes_of("any"), ElementsAre("a"));
}

TEST_F(NeedsInQueue, ALabelThatNoNodeHasIsNamedAndHoldsNobodyUp) {
  add_node("a", "a");
  add("picky", 1, kZoneB);
  add("any", 1, "");
  EXPECT_EQ(verdict("picky").reason, reason::kNoMatchingNode);
  EXPECT_EQ(verdict("picky").message,
            "no node of pool lab has label zone=b that spec.template.spec.nodeSelector asks for");
  EXPECT_THAT(nodes_of("any"), ElementsAre("a"));
}

TEST_F(NeedsInQueue, LabelsThatNoNodeHasTogether) {
  add_node("a", "a");
  add_node("b", "b", "4");
  add("picky", 1, R"("nodeSelector":{"zone":"b","gpupool":"x"})");
  EXPECT_THAT(verdict("picky").message, HasSubstr("has label gpupool=x"));
  add("affine", 1,
      R"("affinity":{"nodeAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":{"nodeSelectorTerms":[
        {"matchExpressions":[{"key":"zone","operator":"In","values":["c"]}]}]}}})");
  EXPECT_EQ(verdict("affine").reason, reason::kNoMatchingNode);
  EXPECT_THAT(verdict("affine").message, HasSubstr("meets spec.template.spec.affinity.nodeAffinity"));
}

TEST_F(NeedsInQueue, ARequestThatNoNodeCanMeetIsNamed) {
  add_node("a", "a", "8");
  add_node("b", "b", "4");
  add("large", 1, "", cpus("64"));
  add("large-in-b", 1, kZoneB, cpus("6"));
  add("any", 1, "");
  EXPECT_EQ(verdict("large").reason, reason::kTooLarge);
  EXPECT_EQ(verdict("large").message, "pool lab: the largest node has 8 CPUs, a worker asks for 64 CPUs");
  EXPECT_EQ(
      verdict("large-in-b").message,
      "pool lab, on the nodes that spec.template allows: the largest node has 4 CPUs, a worker asks for 6 "
      "CPUs");
  EXPECT_THAT(nodes_of("any"), ElementsAre("a"));
}

TEST_F(NeedsInQueue, RequestsThatOnlyDifferentNodesCanMeet) {
  auto wide = test::make_node("a");
  wide.status.allocatable["cpu"] = "64";
  wide.status.allocatable["memory"] = "1Gi";
  auto deep = test::make_node("b");
  deep.status.allocatable["cpu"] = "1";
  deep.status.allocatable["memory"] = "1Ti";
  nodes_ = {test::make_pool_node(wide), test::make_pool_node(deep)};
  add("both", 1, "", R"("resources":{"requests":{"cpu":"2","memory":"2Gi"}})");
  EXPECT_THAT(verdict("both").message,
              HasSubstr("no node has all that a worker asks for: 2 CPUs, 2Gi of memory"));
}

TEST_F(NeedsInQueue, AGangGetsAsManyNodesAsItsRequestsNeed) {
  for (const auto* name : {"a", "b", "c"}) add_node(name, "a", "8", 8);
  add("thin", 8, "");
  EXPECT_THAT(nodes_of("thin"), ElementsAre("a"));
  jobs_.clear();
  add("thick", 8, "", cpus("2"));
  EXPECT_THAT(nodes_of("thick"), ElementsAre("a", "b")) << "four on each";
  jobs_.clear();
  add("too-thick", 8, "", cpus("5"));
  EXPECT_EQ(verdict("too-thick").reason, reason::kTooLarge);
  EXPECT_THAT(verdict("too-thick").message, HasSubstr("with the labels and requests of spec.template"));
}

TEST_F(NeedsInQueue, NodesWithDifferentRoomAreToldApart) {
  add_node("a", "a", "8", 8);
  add_node("b", "a", "64", 8);
  add("thick", 8, "", cpus("8"));
  EXPECT_THAT(nodes_of("thick"), ElementsAre("b"));
}

// Other jobs are not kept away from nodes that cannot help the job that waits.
TEST_F(NeedsInQueue, OnlyNodesThatSuitAreReserved) {
  add_node("a", "a");
  add_node("b", "b");
  nodes_[1].leased = true;
  add("picky", 1, kZoneB);
  add("any", 1, "");
  EXPECT_THAT(verdict("picky"), test::WaitsAsFirst());
  EXPECT_THAT(nodes_of("any"), ElementsAre("a"));
}

TEST_F(NeedsInQueue, NamedNodesMustSuit) {
  add_node("a", "a", "8");
  add_node("b", "b", "8");
  add("picky", 1, kZoneB).spec.nodes = {"a"};
  EXPECT_EQ(verdict("picky").reason, reason::kNoMatchingNode);
  EXPECT_THAT(verdict("picky").message, HasSubstr("node a of spec.nodes has no label zone=b"));
  add("large", 1, "", cpus("9")).spec.nodes = {"a"};
  EXPECT_EQ(verdict("large").reason, reason::kTooLarge);
}

TEST_F(NeedsInQueue, JobsThatAskTheSameAreOneDemand) {
  for (int i = 0; i < 5; ++i) add("j" + std::to_string(i), 1, kZoneB, cpus("2"));
  add("other", 1, kZoneB, cpus("3"));
  EXPECT_EQ(test::line_of({jobs_.begin(), jobs_.end()}).groups().size(), 2U);
}

// Demand::avoided.
TEST_F(NeedsInQueue, AvoidedNodesAreTakenOnlyIfThereAreNoOthers) {
  for (const auto* name : {"a", "b", "c"}) add_node(name, "a");
  const auto taken = [&](std::int64_t gpus) {
    WaitingLine line;
    line.put(share(test::make_job("job", gpus)), 0, {"a", "b"});
    const auto verdict = test::plan_queue(test::make_pool(), nodes_, line).at({"ns", "job"});
    std::vector<std::string> names;
    for (const auto& ref : verdict.nodes) names.push_back(ref.name);
    return names;
  };
  EXPECT_THAT(taken(1), ElementsAre("c"));
  EXPECT_THAT(taken(2), ElementsAre("a", "b"));
  nodes_[2].leased = true;
  EXPECT_THAT(taken(1), ElementsAre("a")) << "rather than to wait";
}

TEST_F(NeedsInQueue, ALostNodeIsReplacedByOneThatSuits) {
  add_node("a", "b");
  add_node("b", "a");
  add_node("c", "b");
  nodes_[0].leased = true;
  const auto job = test::with_template(test::make_job("job", 2), kZoneB);
  const auto refs = replace_nodes(test::make_pool(), nodes_, job, {"a"});
  ASSERT_EQ(refs.size(), 2U);
  EXPECT_EQ(refs[1].name, "c");
}

}  // namespace
}  // namespace gpupool::planning
