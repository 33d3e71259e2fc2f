// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "api/v1alpha1/names.h"
#include "controllers/gpupool/reconciler.h"
#include "tests/unit/controllers/server_and_caches.h"
#include "tests/unit/planning/builders.h"

namespace gpupool::controllers {
namespace {

using std::chrono::milliseconds;

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
  PoolQueue queue_{caches_};
  GpuPoolReconciler reconciler_{client_, queue_, clock_};
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

}  // namespace
}  // namespace gpupool::controllers
