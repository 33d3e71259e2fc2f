// SPDX-License-Identifier: Apache-2.0
// Lost nodes, missing children, refused writes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/v1alpha1/names.h"
#include "api/v1alpha1/reasons.h"
#include "planning/job/job_status.h"
#include "planning/job/plan_job.h"
#include "tests/unit/job-life/world.h"
#include "tests/unit/planning/builders.h"

namespace gpupool::planning {
namespace {

using test::Ending;
using test::World;
using testing::ElementsAre;
using testing::IsEmpty;
namespace phase = api::phase;
namespace reason = api::reason;

void run_first_attempt_for_ever(World& world) {
  world.ending = [](std::int64_t attempt, std::int64_t) {
    return attempt == 0 ? Ending::kNever : Ending::kSuccess;
  };
  ASSERT_TRUE(world.run([&] { return world.running(); }));
}

TEST(LostNode, IsReplacedAndStaysTakenUntilItIsHeardFrom) {
  World world(2, {"a", "b", "c"});
  run_first_attempt_for_ever(world);
  world.lose_node("b");
  world.now += std::chrono::seconds(31);
  ASSERT_TRUE(world.run([&] { return world.job.status.phase == phase::kSucceeded; }));
  EXPECT_EQ(world.job.status.failures, 0);
  EXPECT_THAT(world.tainted(), ElementsAre("b"));
  ASSERT_TRUE(world.job.status.lease.has_value());
  EXPECT_EQ(world.job.status.lease->lost.size(), 1U);
  EXPECT_EQ(world.condition("Complete").status, "True");
  world.recover_node("b");
  ASSERT_TRUE(world.run([&] { return !world.job.status.lease && world.pods.empty(); }));
  EXPECT_THAT(world.tainted(), IsEmpty());
  EXPECT_THAT(world.broken, IsEmpty());
}

TEST(LostNode, IsForgottenWhenItsObjectGoes) {
  World world(2, {"a", "b", "c"});
  run_first_attempt_for_ever(world);
  world.lose_node("b");
  world.now += std::chrono::seconds(31);
  ASSERT_TRUE(world.run([&] { return world.job.status.phase == phase::kSucceeded; }));
  world.remove_node("b");
  ASSERT_TRUE(world.run([&] { return !world.job.status.lease && world.pods.empty(); }));
  EXPECT_THAT(world.broken, IsEmpty());
}

TEST(LostNode, IsNotLostBeforeThePoolsPatienceEnds) {
  World world(2, {"a", "b", "c"});
  world.pool->spec.node_loss_timeout_seconds = 300;
  run_first_attempt_for_ever(world);
  world.lose_node("b");
  world.now += std::chrono::seconds(290);
  world.operate();
  EXPECT_TRUE(world.running());
  world.now += std::chrono::seconds(11);
  world.operate();
  EXPECT_EQ(world.job.status.reason, reason::kNodeLost);
}

TEST(LostNode, WithoutReplacementSendsTheJobBackToTheQueue) {
  World world(2, {"a", "b"});
  run_first_attempt_for_ever(world);
  world.lose_node("b");
  world.now += std::chrono::seconds(31);
  ASSERT_TRUE(world.run([&] {
    return world.job.status.phase == phase::kQueued && world.tainted() == std::vector<std::string>{"b"};
  }));
  world.nodes["c"] = world.nodes["a"];
  world.nodes["c"].metadata.name = "c";
  world.nodes["c"].metadata.uid = "uid-c";
  ASSERT_TRUE(world.run([&] { return world.job.status.phase == phase::kSucceeded; }));
  EXPECT_EQ(world.job.status.failures, 0);
  world.recover_node("b");
  ASSERT_TRUE(world.run([&] { return !world.job.status.lease && world.pods.empty(); }));
  EXPECT_THAT(world.tainted(), IsEmpty());
  EXPECT_THAT(world.broken, IsEmpty());
}

TEST(LostNode, WithoutReplacementIsUsedAgainWhenItComesBack) {
  World world(2, {"a", "b"});
  run_first_attempt_for_ever(world);
  world.lose_node("b");
  world.now += std::chrono::seconds(31);
  ASSERT_TRUE(world.run([&] { return world.job.status.phase == phase::kQueued; }));
  world.recover_node("b");
  ASSERT_TRUE(world.run());
  EXPECT_EQ(world.job.status.phase, phase::kSucceeded);
  EXPECT_THAT(world.tainted(), IsEmpty());
  EXPECT_THAT(world.broken, IsEmpty());
}

TEST(LostNode, OfADeletedJobKeepsTheJobUntilItsProcessesEnd) {
  World world(2, {"a", "b", "c"});
  run_first_attempt_for_ever(world);
  world.lose_node("b");
  world.now += std::chrono::seconds(31);
  ASSERT_TRUE(world.run([&] { return world.job.status.lease && !world.job.status.lease->lost.empty(); }));
  world.delete_job();
  EXPECT_FALSE(world.run([&] { return !world.job_exists; }));
  EXPECT_THAT(world.tainted(), ElementsAre("b"));
  world.recover_node("b");
  ASSERT_TRUE(world.run([&] { return !world.job_exists && world.pods.empty(); }));
  EXPECT_THAT(world.tainted(), IsEmpty());
  EXPECT_THAT(world.broken, IsEmpty());
}

TEST(LostNode, GoneFromTheCluster) {
  World world(2, {"a", "b", "c"});
  run_first_attempt_for_ever(world);
  world.remove_node("b");
  ASSERT_TRUE(world.run());
  EXPECT_EQ(world.job.status.phase, phase::kSucceeded);
  EXPECT_THAT(world.pods, IsEmpty());
  EXPECT_THAT(world.broken, IsEmpty());
}

TEST(MissingChild, IsLookedForLiveBeforeItCounts) {
  World world(2, {"a", "b"});
  world.freeze_cache();  // never shows a child
  world.ending = [](std::int64_t, std::int64_t) { return Ending::kNever; };
  world.job.spec.start_timeout_seconds = 3600;
  ASSERT_TRUE(world.run([&] { return world.job.status.attempts == 1; }));
  const int looks = world.live_looks;
  for (int i = 0; i < 3; ++i) {
    world.turn();
    world.operate();
  }
  EXPECT_GT(world.live_looks, looks);
  EXPECT_EQ(world.job.status.lease_sequence, 1);
}

TEST(MissingChild, StartsANewAttempt) {
  for (const std::int64_t gpus : {1, 2}) {
    World world(gpus, {"a", "b"});
    run_first_attempt_for_ever(world);
    std::erase_if(world.children, [](const auto& entry) { return !entry.first.starts_with("Service"); });
    ASSERT_TRUE(world.run());
    EXPECT_EQ(world.job.status.phase, phase::kSucceeded);
    EXPECT_EQ(world.job.status.attempts, 2);
    EXPECT_EQ(world.job.status.failures, 0);
    EXPECT_TRUE(world.has_event(reason::kWorkerLost));
    EXPECT_THAT(world.broken, IsEmpty());
  }
}

TEST(MissingPod, ThatRanBeforeStartsANewAttempt) {
  World world(1, {"a", "b"});
  run_first_attempt_for_ever(world);
  world.pods.clear();
  ASSERT_TRUE(world.run());
  EXPECT_EQ(world.job.status.phase, phase::kSucceeded);
  EXPECT_EQ(world.job.status.attempts, 2);
}

TEST(RemovedTaint, IsPutBackWhileTheJobRuns) {
  World world(1, {"a"});
  world.ending = [](std::int64_t, std::int64_t) { return Ending::kNever; };
  ASSERT_TRUE(world.run([&] { return world.running(); }));
  world.nodes["a"].spec.taints.clear();
  ASSERT_TRUE(world.run());
  EXPECT_THAT(world.nodes["a"].spec.taints,
              ElementsAre(api::Taint{api::kLease, "uid-job.1", api::kNoSchedule}));
  EXPECT_TRUE(world.running());
}

class RefusedChildren : public testing::TestWithParam<const char*> {};

TEST_P(RefusedChildren, GiveTheNodesBackAndStall) {
  World world(2, {"a", "b"});
  world.children_blocked = api::Problem{GetParam(), "refused"};
  ASSERT_TRUE(
      world.run([&] { return world.condition("Stalled").status == "True" && !world.job.status.lease; }));
  EXPECT_EQ(world.condition("Stalled").reason, GetParam());
  EXPECT_EQ(world.job.status.phase, needs_correction(GetParam()) ? phase::kInvalid : phase::kQueued);
  EXPECT_EQ(world.job.status.node_names, "") << "it holds nothing";
  EXPECT_THAT(world.tainted(), IsEmpty());
  const auto before = world.job.status.lease_sequence;
  for (int i = 0; i < 20; ++i) world.operate();
  EXPECT_EQ(world.job.status.lease_sequence, before) << "no nodes are taken while nothing has changed";
  EXPECT_THAT(world.broken, IsEmpty());
}

TEST_P(RefusedChildren, ClearsWhenTheCauseIsGone) {
  World world(2, {"a", "b"});
  world.children_blocked = api::Problem{GetParam(), "refused"};
  ASSERT_TRUE(
      world.run([&] { return world.condition("Stalled").status == "True" && !world.job.status.lease; }));
  world.children_blocked.reset();
  if (GetParam() == std::string(reason::kTemplateRefused)) {
    world.change_spec([](auto& spec) {
      spec.pod_template.text =
          R"({"spec":{"containers":[{"name":"train","image":"good","command":["true"]}]}})";
    });
  }
  ASSERT_TRUE(world.run([&] { return world.job.finished(); }));
  EXPECT_EQ(world.job.status.phase, phase::kSucceeded);
  EXPECT_EQ(world.condition("Stalled").status, "False");
  EXPECT_THAT(world.tainted(), IsEmpty());
  EXPECT_THAT(world.broken, IsEmpty());
}

INSTANTIATE_TEST_SUITE_P(Reasons, RefusedChildren,
                         testing::Values(reason::kTemplateRefused, reason::kNameConflict, reason::kForbidden),
                         [](const auto& each) { return std::string(each.param); });

// Returns how many pods a job in Releasing has its kubelet reminded of.
std::size_t nudged(const api::Pod& pod, api::Node node, std::int64_t now) {
  auto job = test::make_job();
  job.metadata.finalizers = {api::kLease};
  job.status.lease = test::make_lease(job, api::lease_state::kReleasing, {"a"});
  Observation seen{.job = job,
                   .pods = {test::share(pod)},
                   .node = [&](const std::string&) { return test::share(node); },
                   .now = test::at(now)};
  const auto step = plan_job(seen);
  const auto* drop = std::get_if<step::DropWorkers>(&step);
  return drop == nullptr ? 0 : drop->pods_to_nudge.size();
}

TEST(ForgottenPod, IsBroughtToItsKubeletsMindAgain) {
  auto pod = test::deleted(test::running(test::make_pod()));  // its grace period ends at 100 s
  pod.spec.node_name = "a";
  auto node = test::make_node("a");
  EXPECT_EQ(nudged(pod, node, 102), 0U) << "it may take a moment";
  EXPECT_EQ(nudged(pod, node, 103), 1U);
  EXPECT_EQ(nudged(pod, node, 221), 0U) << "something else is wrong";
  const auto confirmed = test::deleted(test::ended(test::make_pod(), 137), 0);
  EXPECT_EQ(nudged(confirmed, node, 110), 0U) << "the kubelet has done its part";
  auto forced = test::deleted(test::make_pod(), 0);
  forced.spec.node_name = "a";
  EXPECT_EQ(nudged(forced, node, 110), 1U) << "somebody else may have deleted it by force";
  for (auto& condition : node.status.conditions) {
    if (condition.type == "Ready") condition.status = "Unknown";
  }
  EXPECT_EQ(nudged(test::deleted(test::running(test::make_pod())), node, 110), 0U) << "nobody would hear it";
}

TEST(RefusedNode, HeldBySomebodyElseSendsTheJobBackToTheQueue) {
  World world(2, {"a", "b"});
  world.taken_meanwhile = "b";
  ASSERT_TRUE(world.run());
  EXPECT_EQ(world.job.status.phase, phase::kQueued);
  EXPECT_TRUE(world.has_event(reason::kNodeTaken));
  EXPECT_THAT(world.tainted(), ElementsAre("b")) << "what the other job holds stays";
  world.taken_meanwhile.clear();
  world.nodes["b"].spec.taints.clear();
  ASSERT_TRUE(world.run());
  EXPECT_EQ(world.job.status.phase, phase::kSucceeded);
  EXPECT_EQ(world.job.status.attempts, 1);
  EXPECT_THAT(world.tainted(), IsEmpty());
  EXPECT_THAT(world.broken, IsEmpty());
}

}  // namespace
}  // namespace gpupool::planning
