// SPDX-License-Identifier: Apache-2.0
#include "controllers/gpujob/controller.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/v1alpha1/names.h"
#include "controllers/cluster/changes.h"
#include "controllers/gpunode/controller.h"
#include "controllers/gpupool/controller.h"
#include "tests/unit/controllers/server_and_caches.h"
#include "tests/unit/planning/builders.h"

namespace gpupool::controllers {
namespace {

api::GpuJob holder_of(const std::string& name, const std::string& node) {
  auto job = test::make_job(name);
  job.status.lease = test::make_lease(job, api::lease_state::kRunning, {node});
  return job;
}

class GpuJobControllerTest : public testing::Test, protected test::ServerAndCaches {
 protected:
  runtime::EventRecorder events_{client_, "test", "test", clock_, metrics_, log_};
  runtime::Manager manager_{clock_, log_};
  PoolQueue pool_queue_{caches_, clock_};
  GpuJobController controller_{
      {client_, caches_, events_, manager_, clock_, metrics_, log_}, pool_queue_, {}};
};

TEST_F(GpuJobControllerTest, ANodeWakesTheJobsThatHoldItOrHaveLostIt) {
  auto& queue = controller_.queue();
  auto loser = holder_of("lost", "b");
  loser.status.lease->lost.push_back({"a", "uid-a", "uid-lost.1"});
  put(caches_.jobs, holder_of("holds", "a"));
  put(caches_.jobs, holder_of("holds-another", "b"));
  put(caches_.jobs, std::move(loser));
  while (queue.depth() > 0) queue.done(*queue.get({}));

  put(caches_.nodes, test::make_node("a"));
  ASSERT_EQ(queue.depth(), 2U);
  std::vector<std::string> woken;
  for (int i = 0; i < 2; ++i) woken.push_back(queue.get({})->name);
  EXPECT_THAT(woken, testing::UnorderedElementsAre("holds", "lost"));
}

TEST_F(GpuJobControllerTest, AnExcessWakesTheJobOfItsPodAndNoOther) {
  auto& queue = controller_.queue();
  put(caches_.jobs, holder_of("job", "a"));
  put(caches_.jobs, holder_of("neighbour", "a"));
  auto pod = test::make_pod();
  pod.metadata.labels[api::kJobNameLabel] = "job";
  const auto name = pod.metadata.name;
  put(caches_.pods, std::move(pod));
  put(caches_.gpu_nodes, test::make_report("a", 1));
  const auto woken = [&] {
    std::vector<std::string> names;
    while (queue.depth() > 0) {
      const auto key = *queue.get({});
      names.push_back(key.name);
      queue.done(key);
    }
    return names;
  };
  woken();
  auto report = test::make_report("a", 1);
  for (const auto& pod_name : {name, std::string("foreign")}) {
    auto& excess = report.status.excesses.emplace_back();
    excess.ns = "ns";
    excess.pod = pod_name;
    excess.pod_uid = "uid-" + pod_name;
  }
  put(caches_.gpu_nodes, api::GpuNode(report));
  EXPECT_THAT(woken(), testing::ElementsAre("job"));
  report.status.excesses[0].used_mib = 9001;
  put(caches_.gpu_nodes, api::GpuNode(report));
  EXPECT_THAT(woken(), testing::IsEmpty()) << "figures change all the time";
  report.status.excesses[0].end = true;
  put(caches_.gpu_nodes, std::move(report));
  EXPECT_THAT(woken(), testing::ElementsAre("job"));
}

TEST(Changes, WhatOfANodeMattersToItsPool) {
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
  EXPECT_TRUE(matters([](api::Node& node) { node.metadata.annotations[api::kDrain] = ""; }));
  EXPECT_TRUE(matters([](api::Node& node) { node.status.conditions.at(1).status = "Unknown"; }));
  EXPECT_TRUE(matters([](api::Node& node) { node.status.allocatable[test::kGpus] = "7"; }));
  EXPECT_TRUE(concerns_pools({nullptr, test::share(test::make_node("a"))}));
}

// The watch event of a report, as the device plugin writes it.
api::GpuNode report_of(const std::string& version, const std::string& telemetry) {
  const auto read = base::json::read<api::GpuNode>(
      R"({"metadata": {"name": "a", "uid": "uid-report", "resourceVersion": ")" + version + R"("},
          "status": {"lastReport": "2026-01-02T03:04:0)" +
      version + R"(Z", "gpus": [{"uuid": "GPU-a", "index": 0,
          "model": "A", "memoryMiB": 16000, "health": "Healthy", "resourceName": "gpupool.dev/vgpu",
          "slices": {"total": 10, "free": 10, "memoryMiB": 1600, "cores": 10}, "pods": [])" +
      telemetry + "}");
  EXPECT_TRUE(read) << read.error().message;
  return *read;
}

constexpr char kBusy[] =
    R"(, "usage": {"utilizationPercent": 99, "memoryUsedMiB": 15000, "temperatureCelsius": 80,
    "powerMilliwatts": 700000, "busyMilliseconds": 123456, "sampledMilliseconds": 200000,
    "since": "2026-01-01T00:00:00Z"}}], "lastSample": "2026-01-02T03:04:05Z",
    "usage": {"utilization": "99%", "memory": "14.6/15.6Gi"}})";
constexpr char kNoTelemetry[] = "}]}";

TEST(Changes, TheUseOfGpusIsNotDecoded) {
  EXPECT_EQ(report_of("1", kBusy).status, report_of("1", kNoTelemetry).status);
}

TEST(Changes, WhatOfAReportMattersToPools) {
  const auto matters = [](const auto& change) {
    auto report = test::make_report("a", 2);
    change(report);
    return concerns_pools({test::share(test::make_report("a", 2)), test::share(std::move(report))});
  };
  EXPECT_FALSE(matters([](api::GpuNode& report) {
    report.metadata.resource_version = "77";
    report.status.last_report = test::at(77);
    report.status.conditions.emplace_back().type = "Ready";
  }));
  EXPECT_TRUE(matters([](api::GpuNode& report) { report.metadata.uid = "uid-again"; }));
  EXPECT_TRUE(matters(
      [](api::GpuNode& report) { report.metadata.owner_references.push_back({"Node", "a", "uid-again"}); }));
  EXPECT_TRUE(matters([](api::GpuNode& report) { report.status.message = "no driver"; }));
  EXPECT_TRUE(matters([](api::GpuNode& report) { report.status.gpus[1].health = "Unhealthy"; }));
  EXPECT_TRUE(matters([](api::GpuNode& report) { test::show_pod(report, 0, "pod", 1); }));
  EXPECT_TRUE(concerns_pools({nullptr, test::share(test::make_report("a", 2))}));
}

class HeartbeatTest : public testing::Test, protected test::ServerAndCaches {
 protected:
  static std::size_t drain(runtime::WorkQueue& queue) {
    std::size_t keys = 0;
    for (; queue.depth() > 0; ++keys) queue.done(*queue.get({}));
    return keys;
  }

  runtime::EventRecorder events_{client_, "test", "test", clock_, metrics_, log_};
  runtime::Manager manager_{clock_, log_};
  PoolQueue pool_queue_{caches_, clock_};
  controllers::Setup setup_{client_, caches_, events_, manager_, clock_, metrics_, log_};
  GpuPoolController pools_{setup_, pool_queue_};
  NodeMarkerController marks_{setup_};
};

TEST_F(HeartbeatTest, AReportThatDiffersInTelemetryOnlyWakesNobody) {
  put(caches_.pools, test::make_sharing_pool("lab"));
  put(caches_.nodes, test::make_shared_member("a", 10));
  put(caches_.gpu_nodes, report_of("1", kNoTelemetry));
  EXPECT_EQ(drain(pools_.queue()), 1U);
  EXPECT_EQ(drain(marks_.queue()), 1U);
  for (const auto* version : {"2", "3", "4"}) put(caches_.gpu_nodes, report_of(version, kBusy));
  EXPECT_EQ(drain(pools_.queue()), 0U);
  EXPECT_EQ(drain(marks_.queue()), 0U);
  auto sick = report_of("5", kBusy);
  sick.status.gpus[0].health = "Unhealthy";
  put(caches_.gpu_nodes, std::move(sick));
  EXPECT_EQ(drain(pools_.queue()), 1U);
  EXPECT_EQ(drain(marks_.queue()), 1U);
}

}  // namespace
}  // namespace gpupool::controllers
