#include "controllers/cluster/worker_pods.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/controllers/server_and_caches.h"
#include "tests/unit/planning/builders.h"

namespace gpupool::controllers {
namespace {

using testing::HasSubstr;

class WorkerPodsTest : public testing::Test, protected test::ServerAndCaches {
 protected:
  base::Result<void> let_go() { return pods_.take_finalizer_off(pod_, {}); }
  static std::string pod_text(const std::string& uid) {
    return R"({"metadata":{"name":"job-1-0","namespace":"ns","uid":")" + uid +
           R"(","finalizers":["example.com/others","gpupool.dev/worker"]}})";
  }

  const api::Pod pod_ = test::ended(test::make_pod(), 0);
  WorkerPods pods_{client_, clock_};
};

constexpr char kTestFailed[] =
    R"({"kind":"Status","reason":"Invalid","code":422,"message":"the server rejected our request"})";

TEST_F(WorkerPodsTest, TakesTheFinalizerOffOnce) {
  transport_.answer(200, pod_text(pod_.metadata.uid));
  EXPECT_TRUE(let_go());
  EXPECT_TRUE(let_go());
  EXPECT_EQ(transport_.sent().size(), 1U) << "it did a moment ago";
}

// A StatefulSet gives its pods the same names again.
TEST_F(WorkerPodsTest, LeavesANewPodOfTheNameAlone) {
  transport_.answer(422, kTestFailed);
  transport_.answer(200, pod_text("uid-new"));
  EXPECT_TRUE(let_go());
  const auto sent = transport_.sent();
  EXPECT_THAT(sent.at(0).body,
              HasSubstr(R"({"op":"test","path":"/metadata/uid","value":")" + pod_.metadata.uid + "\"}"));
  EXPECT_EQ(sent.size(), 2U);
}

TEST_F(WorkerPodsTest, FindsTheFinalizerInAListThatHasChanged) {
  transport_.answer(422, kTestFailed);
  transport_.answer(200, pod_text(pod_.metadata.uid));
  transport_.answer(200, pod_text(pod_.metadata.uid));
  EXPECT_TRUE(let_go());
  EXPECT_THAT(transport_.sent().at(2).body, HasSubstr("/metadata/finalizers/1"));
}

}  // namespace
}  // namespace gpupool::controllers
