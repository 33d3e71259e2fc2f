#include "controllers/wiring.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

#include "tests/support/manual_clock.h"
#include "tests/unit/planning/builders.h"
#include "tests/unit/runtime/scripted_transport.h"

namespace gpupool::controllers {
namespace {

api::GpuJob holder_of(const std::string& name, const std::string& node) {
  auto job = test::make_job(name);
  job.status.lease = test::make_lease(job, api::lease_state::kRunning, {node});
  return job;
}

TEST(Wiring, ANodeWakesTheJobsThatHoldItOrHaveLostIt) {
  test::ScriptedTransport transport;
  test::ManualClock clock;
  base::Metrics metrics;
  const auto log = base::Log::none();
  kube::Client client(transport, nullptr, clock, metrics, {});
  Caches caches(client, clock, metrics, log);
  PoolQueue pool_queue(caches);
  NodeReadiness readiness(clock);
  const auto limit = std::chrono::seconds(1);
  runtime::WorkQueue jobs(clock, limit);
  runtime::WorkQueue pools(clock, limit);
  runtime::WorkQueue nodes(clock, limit);
  runtime::WorkQueue pods(clock, limit);
  runtime::WorkQueue marks(clock, limit);
  runtime::EventRecorder events(client, "test", "test", clock, metrics, log);
  ForeignPods foreign(client, events, metrics);
  connect(caches, pool_queue, readiness, foreign, {jobs, pools, nodes, pods, marks});
  runtime::StoreWriter<api::GpuJob> writer(caches.jobs.store());
  writer.apply(holder_of("holds", "a"));
  writer.apply(holder_of("holds-another", "b"));
  auto loser = holder_of("lost", "b");
  loser.status.lease->lost.push_back({"a", "uid-a", "uid-lost.1"});
  writer.apply(std::move(loser));

  transport.answer(200, R"({"metadata":{"resourceVersion":"2"},"items":[{"metadata":{"name":"a"}}]})");
  const std::jthread thread([&](std::stop_token stop) { caches.nodes.reflector().run(std::move(stop)); });
  ASSERT_TRUE(transport.wait_for_requests(2));  // the watch: the list has been handled
  ASSERT_EQ(jobs.depth(), 2U);
  std::vector<std::string> woken;
  for (int i = 0; i < 2; ++i) woken.push_back(jobs.get({})->name);
  EXPECT_THAT(woken, testing::UnorderedElementsAre("holds", "lost"));
}

TEST(Wiring, WhatOfANodeMattersToItsPool) {
  const auto matters = [](const auto& change) {
    auto node = test::make_node("a");
    change(node);
    return concerns_pools({test::share(test::make_node("a")), test::share(std::move(node))});
  };
  EXPECT_FALSE(matters([](api::Node& node) {
    node.metadata.resource_version = "77";
    node.metadata.annotations["example.com/seen"] = "now";
    node.status.conditions[0].last_transition_time = test::at(77);
    node.status.conditions.push_back({"MemoryPressure", "False", test::at(77)});
  }));
  EXPECT_TRUE(matters([](api::Node& node) { node.metadata.uid = "uid-again"; }));
  EXPECT_TRUE(matters([](api::Node& node) { node.metadata.labels["example.com/rack"] = "7"; }));
  EXPECT_TRUE(matters([](api::Node& node) { node.metadata.deletion_timestamp = test::at(7); }));
  EXPECT_TRUE(matters([](api::Node& node) { node.spec.taints.push_back({"a", "b", "NoSchedule"}); }));
  EXPECT_TRUE(matters([](api::Node& node) { node.spec.unschedulable = true; }));
  EXPECT_TRUE(matters([](api::Node& node) { node.status.conditions.at(1).status = "Unknown"; }));
  EXPECT_TRUE(matters([](api::Node& node) { node.status.allocatable[test::kGpus] = "7"; }));
  EXPECT_TRUE(concerns_pools({nullptr, test::share(test::make_node("a"))}));
}

}  // namespace
}  // namespace gpupool::controllers
