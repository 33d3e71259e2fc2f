// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "api/v1alpha1/names.h"
#include "base/rfc3339.h"
#include "controllers/gpupool/reconciler.h"
#include "tests/unit/controllers/server_and_caches.h"
#include "tests/unit/planning/builders.h"

namespace gpupool::controllers {
namespace {

using std::chrono::milliseconds;
using testing::HasSubstr;

class PoolReconcilerTest : public testing::Test, protected test::ServerAndCaches {
 protected:
  PoolReconcilerTest() {
    pool_.metadata.finalizers = {api::kPoolFinalizer};
    has(pool_);
  }
  void has(const api::GpuPool& pool) { put(caches_.pools, pool); }
  void has(const api::Node& node) { put(caches_.nodes, node); }
  runtime::Requeue reconcile() { return reconciler_.reconcile(pool_.metadata.key(), log_, {}).value(); }
  // The watch brings the last write.
  void see_own_write() {
    const auto body = transport_.sent().back().body;
    pool_.status = kube::decode<api::GpuPool>(body).value().status;
    has(pool_);
  }

  api::GpuPool pool_ = test::make_pool();
  PoolQueue queue_{caches_, clock_};
  GpuPoolReconciler reconciler_{client_, queue_, clock_, metrics_};
};

TEST_F(PoolReconcilerTest, CountsOnceASecondAtMost) {
  transport_.answer(200, "{}");
  reconcile();
  ASSERT_EQ(transport_.sent().size(), 1U);
  see_own_write();
  clock_.advance(std::chrono::seconds(1));
  EXPECT_FALSE(reconcile().after) << "as it is written";
  clock_.advance(milliseconds(400));
  has(test::make_node("a"));
  EXPECT_EQ(reconcile().after, milliseconds(600)) << "since it counted last, though it wrote nothing";
  EXPECT_EQ(transport_.sent().size(), 1U);
  clock_.advance(milliseconds(600));
  transport_.answer(200, "{}");
  EXPECT_FALSE(reconcile().after);
  see_own_write();
  EXPECT_EQ(pool_.status.nodes.total, 1);
}

TEST_F(PoolReconcilerTest, TellsWhoIsStillOnADrainedNode) {
  auto node = test::make_node("a");
  node.metadata.annotations[api::kDrain] = "2027-01-15T08:00:00Z";
  has(node);
  auto job = test::make_job("job");
  job.spec.pool = pool_.metadata.name;
  job.status.lease = test::make_lease(job, api::lease_state::kRunning, {"a"});
  put(caches_.jobs, job);
  auto other = job;
  other.metadata.name = "another";
  other.metadata.uid = "uid-another";
  put(caches_.jobs, other);
  transport_.answer(200, "{}");
  reconcile();
  see_own_write();
  ASSERT_EQ(pool_.status.draining.size(), 1U);
  EXPECT_EQ(pool_.status.draining[0],
            (api::DrainingNode{"a", "ns/another", base::parse_rfc3339("2027-01-15T08:00:00Z"), ""}));
  EXPECT_EQ(pool_.status.nodes.cordoned, 1);
  EXPECT_THAT(metrics_.expose(), HasSubstr(R"(gpupool_pool_nodes_draining{pool="lab"} 1)"));
  EXPECT_THAT(metrics_.expose(),
              HasSubstr(R"(gpupool_pool_drain_deadline_timestamp_seconds{pool="lab"} 18)"));
  clock_.advance(std::chrono::seconds(1));
  reconcile();
  EXPECT_EQ(transport_.sent().size(), 1U) << "nothing has changed";
  vanish(caches_.jobs, "job");
  vanish(caches_.jobs, "another");
  clock_.advance(std::chrono::seconds(1));
  transport_.answer(200, "{}");
  reconcile();
  see_own_write();
  EXPECT_TRUE(pool_.status.draining.empty());
  EXPECT_THAT(metrics_.expose(), HasSubstr(R"(gpupool_pool_nodes_draining{pool="lab"} 0)"));
}

TEST_F(PoolReconcilerTest, JobsThatWaitAreToldPlaceAndStart) {
  pool_.spec.queue.emplace();
  has(pool_);
  has(test::make_node("a"));
  auto job = test::make_job("runs");
  job.spec.pool = pool_.metadata.name;
  job.spec.active_deadline_seconds = 3600;
  job.status.start_time = clock_.wall();
  job.status.lease = test::make_lease(job, api::lease_state::kRunning, {"a"});
  put(caches_.jobs, job);
  for (const auto* name : {"first", "second"}) {
    auto waits = test::make_job(name);
    waits.spec.pool = pool_.metadata.name;
    waits.spec.active_deadline_seconds = 60;
    waits.status.phase = api::phase::kQueued;
    put(caches_.jobs, waits);
  }
  std::vector<std::string> woken;
  queue_.on_notify([&](const api::ObjectKey& key) { woken.push_back(key.name); });
  transport_.answer(200, "{}");
  EXPECT_EQ(reconcile().after, std::chrono::seconds(30)) << "estimates are made anew while jobs wait";
  see_own_write();
  EXPECT_THAT(woken, testing::IsSupersetOf({"first", "second"}));
  const auto told = [&](const std::string& name) {
    const auto waiting = caches_.jobs.store().get({"ns", name});
    return *queue_.ask(*waiting).verdict().turn;
  };
  EXPECT_EQ(told("first").place, 1);
  EXPECT_EQ(told("first").basis, api::estimate_basis::kBounds);
  EXPECT_EQ(told("first").estimated_start, told("first").latest_start);
  EXPECT_EQ(told("second").place, 2);
  EXPECT_EQ(told("second").basis, api::estimate_basis::kHistory);
  EXPECT_GE(*told("second").estimated_start, clock_.wall() + std::chrono::seconds(3660));
  const auto sent = transport_.sent().size();
  clock_.advance(std::chrono::seconds(30));
  reconcile();
  EXPECT_EQ(transport_.sent().size(), sent) << "a forecast writes nothing";
}

TEST_F(PoolReconcilerTest, TenantsHaveMetricsAndOthersAreSummed) {
  PoolMetrics metrics(metrics_);
  auto pool = pool_;
  metrics.on_queue("lab", &pool, nullptr);
  EXPECT_THAT(metrics_.expose(), testing::Not(HasSubstr("gpupool_tenant_")));
  pool.spec.queue.emplace().tenants.push_back({"nlp", {"nlp"}, 1, 16, {}, {}});
  api::QueueStatus queue;
  queue.tenants = {{"nlp", 2, "8", "5300m", ""}, {"x", 3, "1500m", "0", ""}, {"y", 4, "1", "0", ""}};
  metrics.on_queue("lab", &pool, &queue);
  EXPECT_THAT(metrics_.expose(), HasSubstr(R"(gpupool_tenant_average_gpus{pool="lab",tenant="nlp"} 5.3)"));
  EXPECT_THAT(metrics_.expose(), HasSubstr(R"(gpupool_tenant_guaranteed_gpus{pool="lab",tenant="nlp"} 16)"));
  EXPECT_THAT(metrics_.expose(),
              HasSubstr(R"x(gpupool_tenant_held_gpus{pool="lab",tenant="(others)"} 2.5)x"));
  EXPECT_THAT(metrics_.expose(),
              HasSubstr(R"x(gpupool_tenant_queued_jobs{pool="lab",tenant="(others)"} 7)x"));
  metrics.on_queue("lab", nullptr, nullptr);
  EXPECT_THAT(metrics_.expose(), HasSubstr(R"(gpupool_tenant_queued_jobs{pool="lab",tenant="nlp"} 0)"));
}

TEST_F(PoolReconcilerTest, ThereIsNoMetricWithoutADrainedNodeThatIsHeld) {
  auto node = test::make_node("a");
  node.metadata.annotations[api::kDrain] = "soon";
  has(node);
  transport_.answer(200, "{}");
  reconcile();
  see_own_write();
  ASSERT_EQ(pool_.status.draining.size(), 1U);
  EXPECT_THAT(pool_.status.draining[0].problem, HasSubstr("soon"));
  EXPECT_THAT(metrics_.expose(), testing::Not(HasSubstr("gpupool_pool_")));
}

}  // namespace
}  // namespace gpupool::controllers
