// SPDX-License-Identifier: Apache-2.0
// What foreign pods hold: the cache, and what the queues make of it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/v1alpha1/reasons.h"
#include "controllers/queue/foreign_share.h"
#include "planning/pool/pool_status.h"
#include "tests/unit/controllers/pool_queue_world.h"

namespace gpupool::controllers {
namespace {

using test::make_queued_job;
using test::PoolQueueWorld;
using testing::ElementsAre;
using testing::HasSubstr;

api::ForeignPod pod_on(const std::string& node, const std::string& name, const std::string& requests) {
  const auto pod =
      base::json::read<api::ForeignPod>(R"({"metadata":{"namespace":"team","name":")" + name +
                                        R"(","uid":"uid-)" + name + R"("},"spec":{"nodeName":")" + node +
                                        R"(","containers":[{"resources":{"requests":)" + requests + "}}]}}");
  return *pod;
}

class ForeignPodCacheTest : public testing::Test, protected test::ServerAndCaches {
 protected:
  ForeignPodCacheTest() {
    caches_.foreign_pods.on_change([this](const std::string& node) { changed_.push_back(node); });
  }
  std::vector<std::string> changed() { return std::exchange(changed_, {}); }
  std::vector<std::string> changed_;
};

TEST_F(ForeignPodCacheTest, SumsWhatPodsRequest) {
  auto& pods = caches_.foreign_pods;
  pods.apply(pod_on("a", "one", R"({"nvidia.com/gpu":"1","cpu":"500m"})"));
  auto two = pod_on("a", "two", R"({"cpu":"2","nvidia.com/gpu":"2"})");
  two.spec.overhead["cpu"].text = "\"250m\"";
  pods.apply(two);
  pods.apply(pod_on("b", "three", R"({"cpu":"4"})"));
  const auto share = foreign_share(caches_, "a", test::kGpus);
  EXPECT_EQ(share.gpus, 3);
  EXPECT_EQ(share.held.milli_cpu, 2750);
  EXPECT_EQ(share.held.pods, 2);
  EXPECT_EQ(share.gpu_pod, "team/one");
  EXPECT_EQ(foreign_share(caches_, "c", test::kGpus), planning::ForeignShare());
}

TEST_F(ForeignPodCacheTest, TellsOnlyWhatChanges) {
  auto& pods = caches_.foreign_pods;
  const auto pod = pod_on("a", "one", R"({"cpu":"1"})");
  pods.apply(pod);
  EXPECT_THAT(changed(), ElementsAre("a"));
  pods.apply(pod);
  EXPECT_THAT(changed(), ElementsAre()) << "only its status has changed";
  pods.apply(pod_on("a", "one", R"({"cpu":"2"})"));
  EXPECT_THAT(changed(), ElementsAre("a")) << "resized in place";
  pods.remove(pod_on("a", "other", "{}"));
  EXPECT_THAT(changed(), ElementsAre());
  pods.remove(pod);
  EXPECT_THAT(changed(), ElementsAre("a"));
  EXPECT_EQ(foreign_share(caches_, "a", test::kGpus), planning::ForeignShare());
}

TEST_F(ForeignPodCacheTest, EqualRequestsAreStoredOnce) {
  for (const auto* name : {"one", "two"}) caches_.foreign_pods.apply(pod_on("a", name, R"({"cpu":"1"})"));
  const auto pods = caches_.foreign_pods.on_node("a");
  ASSERT_EQ(pods.size(), 2U);
  EXPECT_EQ(pods[0].requests, pods[1].requests);
}

TEST(ForeignPodsInQueue, ANodeWhoseGpusTheyHoldIsNotTaken) {
  PoolQueueWorld world;
  world.put(test::make_node("a"));
  world.put(test::make_node("b"));
  const auto holder = pod_on("a", "train", R"({"nvidia.com/gpu":"1"})");
  world.put(holder);
  world.put(make_queued_job("job", 1));
  EXPECT_EQ(world.ask("job").nodes.at(0).name, "b");
  world.end("job");
  const auto status = [&] {
    const auto view = world.queue().view("lab");
    return planning::make_pool_status(*view->pool, view->members, view->nodes, {}, test::at(0));
  };
  EXPECT_EQ(status().gpus.total, 2);
  EXPECT_EQ(status().gpus.available, 1);
  ASSERT_EQ(status().excluded.size(), 1U);
  EXPECT_EQ(status().excluded[0].name, "a");
  world.remove(holder);
  EXPECT_EQ(status().gpus.available, 2);
  EXPECT_TRUE(status().excluded.empty());
}

TEST(ForeignPodsInQueue, WhoWaitsForThemIsToldSoAndGoesOnWhenTheyGo) {
  PoolQueueWorld world;
  world.put(test::make_node("a", 4));
  const auto holder = pod_on("a", "train", R"({"nvidia.com/gpu":"1"})");
  world.put(holder);
  auto job = make_queued_job("wide", 4);
  job.spec.gpus_per_worker = 4;
  world.put(job);
  EXPECT_EQ(world.ask("wide").reason, api::reason::kWaitingForNodes);
  EXPECT_THAT(world.ask("wide").message, HasSubstr("1 of 4 GPUs is held by pods of others (team/train)"));
  world.end("wide");
  world.put(make_queued_job("narrow", 3));
  EXPECT_EQ(world.ask("narrow").nodes.size(), 1U) << "three are free, and nobody can wait for the fourth";
  world.end("narrow");
  world.remove_job("narrow");
  world.notify();
  world.remove(holder);
  EXPECT_THAT(world.notify(), ElementsAre(api::ObjectKey{"ns", "wide"}));
  EXPECT_EQ(world.ask("wide").nodes.size(), 1U);
}

TEST(ForeignPodsInQueue, TheirCpuCountsInPoolsOfBothKinds) {
  for (const bool sharing : {false, true}) {
    PoolQueueWorld world;
    auto node = sharing ? test::make_shared_member("a", 10) : test::make_node("a");
    node.status.allocatable["cpu"] = "8";
    world.put(node);
    if (sharing) {
      world.put(test::make_sharing_pool());
      world.put(test::make_report("a", 1));
    }
    world.put(pod_on("a", "cpu-only", R"({"cpu":"6"})"));
    auto job = test::with_template(make_queued_job("job", 1), "", R"("resources":{"requests":{"cpu":"3"}})");
    if (sharing) job.spec.slice = api::JobSlice{"", {}, 1};
    world.put(job);
    EXPECT_TRUE(world.ask("job").nodes.empty()) << sharing;
    world.end("job");
    world.remove(pod_on("a", "cpu-only", "{}"));
    EXPECT_EQ(world.ask("job").nodes.size(), 1U) << sharing;
  }
}

// The report of the device plugin comes later than the pod.
TEST(ForeignPodsInQueue, TheirSlicesCountBeforeTheReportShowsThem) {
  PoolQueueWorld world;
  world.put(test::make_sharing_pool());
  world.put(test::make_shared_member("a", 10));
  world.put(test::make_report("a", 1));
  world.put(pod_on("a", "stranger", R"({"gpupool.dev/vgpu":"8"})"));
  auto job = make_queued_job("job", 1);
  job.spec.slice = api::JobSlice{"", {}, 3};
  world.put(job);
  EXPECT_TRUE(world.ask("job").nodes.empty());
}

TEST(WorkersInSharingPools, RequestsOfTheirMatesCount) {
  PoolQueueWorld world;
  world.put(test::make_sharing_pool());
  for (const auto* name : {"a", "b"}) {
    auto node = test::make_shared_member(name, 10);
    node.status.allocatable["cpu"] = "8";
    world.put(node);
    world.put(test::make_report(name, 1));
  }
  for (const auto* name : {"one", "two"}) {
    auto job = test::with_template(make_queued_job(name, 1), "", R"("resources":{"requests":{"cpu":"5"}})");
    job.spec.slice = api::JobSlice{"", {}, 1};
    world.put(job);
  }
  EXPECT_EQ(world.take("one").nodes.at(0).name, "a");
  EXPECT_EQ(world.take("two").nodes.at(0).name, "b") << "there are slices on a, but not five CPUs";
  auto three =
      test::with_template(make_queued_job("three", 1), "", R"("resources":{"requests":{"cpu":"5"}})");
  three.spec.slice = api::JobSlice{"", {}, 1};
  world.put(three);
  EXPECT_EQ(world.ask("three").reason, api::reason::kWaitingForNodes);
  world.end("three");
  world.finish("one");
  EXPECT_EQ(world.ask("three").nodes.at(0).name, "a");
}

}  // namespace
}  // namespace gpupool::controllers
