// SPDX-License-Identifier: Apache-2.0
#include "controllers/cluster/worker_pods.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/v1alpha1/names.h"
#include "tests/unit/controllers/server_and_caches.h"
#include "tests/unit/planning/builders.h"

namespace gpupool::controllers {
namespace {

using testing::HasSubstr;

class WorkerPodsTest : public testing::Test, protected test::ServerAndCaches {
 protected:
  base::Result<void> release() { return pods_.take_finalizer_off(pod_, {}); }
  static std::string pod_text(const std::string& uid) {
    return R"({"metadata":{"name":"job-1-0","namespace":"ns","uid":")" + uid +
           R"(","finalizers":["example.com/others","gpupool.dev/worker"]}})";
  }

  const api::Pod pod_ = test::ended(test::make_pod(), 0);
  WorkerPods pods_{client_, caches_, clock_};
};

constexpr char kTestFailed[] =
    R"({"kind":"Status","reason":"Invalid","code":422,"message":"the server rejected our request"})";

TEST_F(WorkerPodsTest, ShowsWhatItHasDoneBeforeTheWatchDoes) {
  put(caches_.pods, pod_);
  transport_.answer(200, R"({"metadata":{"name":"job-1-0","namespace":"ns","uid":")" + pod_.metadata.uid +
                             R"(","resourceVersion":"9"}})");
  EXPECT_TRUE(release());
  EXPECT_TRUE(caches_.pods.store().get(pod_.metadata.key())->metadata.has_finalizer(api::kWorkerFinalizer));
  EXPECT_FALSE(caches_.newest_pods.get(pod_.metadata.key())->metadata.has_finalizer(api::kWorkerFinalizer));
}

// Only the watch may show that a worker is gone, because then its node is given back.
TEST_F(WorkerPodsTest, AnAnswerWithoutThePodChangesNothing) {
  put(caches_.pods, pod_);
  transport_.answer(404, R"({"kind":"Status","reason":"NotFound","code":404})");
  EXPECT_TRUE(pods_.remove(pod_, false, {}));
  transport_.answer(409, R"({"kind":"Status","reason":"Conflict","code":409})");
  EXPECT_TRUE(pods_.remove(pod_, false, {}));
  transport_.answer(200, R"({"kind":"Status","status":"Success"})");
  EXPECT_TRUE(pods_.remove(pod_, false, {}));
  EXPECT_NE(caches_.newest_pods.get(pod_.metadata.key()), nullptr);
}

// A StatefulSet uses the names of its pods again.
TEST_F(WorkerPodsTest, LeavesANewPodOfTheNameAlone) {
  transport_.answer(422, kTestFailed);
  transport_.answer(200, pod_text("uid-new"));
  EXPECT_TRUE(release());
  const auto sent = transport_.sent();
  EXPECT_THAT(sent.at(0).body,
              HasSubstr(R"({"op":"test","path":"/metadata/uid","value":")" + pod_.metadata.uid + "\"}"));
  EXPECT_EQ(sent.size(), 2U);
}

TEST_F(WorkerPodsTest, FindsTheFinalizerInAListThatHasChanged) {
  transport_.answer(422, kTestFailed);
  transport_.answer(200, pod_text(pod_.metadata.uid));
  transport_.answer(200, pod_text(pod_.metadata.uid));
  EXPECT_TRUE(release());
  EXPECT_THAT(transport_.sent().at(2).body, HasSubstr("/metadata/finalizers/1"));
}

}  // namespace
}  // namespace gpupool::controllers
