// SPDX-License-Identifier: Apache-2.0
#include "controllers/sweeper/foreign_pods.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/v1alpha1/names.h"
#include "tests/unit/controllers/server_and_caches.h"
#include "tests/unit/planning/builders.h"

namespace gpupool::controllers {
namespace {

api::GpuJob make_holder(const std::string& uid = "uid-job") {
  auto job = test::make_job();
  job.metadata.uid = uid;
  job.status.start_time = test::at(10);
  return job;
}

api::ForeignPod make_foreign_pod(const std::string& name, std::int64_t created = 20) {
  api::ForeignPod pod;
  pod.metadata.ns = "theirs";
  pod.metadata.name = name;
  pod.metadata.uid = "uid-" + name;
  pod.metadata.creation_timestamp = test::at(created);
  pod.spec.node_name = "a";
  return pod;
}

class ForeignPodsTest : public testing::Test, protected test::ServerAndCaches {
 protected:
  void look(const api::GpuJob& holder = make_holder()) { foreign_.look(test::make_node("a"), holder); }
  bool told(int times) {
    const auto line = "\ngpupool_foreign_pods_total " + std::to_string(times) + "\n";
    return metrics_.expose().find(line) != std::string::npos;
  }

  runtime::EventRecorder events_{client_, "test", "test", clock_, metrics_, log_};
  ForeignPods foreign_{caches_, events_, metrics_};
};

TEST_F(ForeignPodsTest, ThatComeLaterAreToldOnceAndWithoutARead) {
  caches_.foreign_pods.apply(make_foreign_pod("foreign"));
  caches_.foreign_pods.apply(make_foreign_pod("was-there-before", 5));
  for (int i = 0; i < 2; ++i) look();
  EXPECT_TRUE(told(1));
  caches_.foreign_pods.apply(make_foreign_pod("another"));
  look();
  EXPECT_TRUE(told(2));
  EXPECT_TRUE(transport_.sent().empty());
}

TEST_F(ForeignPodsTest, AreToldToEachHolder) {
  caches_.foreign_pods.apply(make_foreign_pod("foreign"));
  look();
  look(make_holder("uid-next"));
  EXPECT_TRUE(told(2));
}

TEST_F(ForeignPodsTest, OfDaemonSetsAndKubeletsAreNotTold) {
  auto daemon = make_foreign_pod("daemon");
  daemon.metadata.owner_references = {{"DaemonSet"}};
  caches_.foreign_pods.apply(daemon);
  auto mirror = make_foreign_pod("mirror");
  mirror.metadata.annotations.mirror = "hash";
  caches_.foreign_pods.apply(mirror);
  look();
  EXPECT_TRUE(told(0));
}

TEST_F(ForeignPodsTest, WithTheLabelsOfAJobAreToldToo) {
  api::Pod pod;
  pod.metadata.ns = "theirs";
  pod.metadata.name = "disguised";
  pod.metadata.uid = "uid-disguised";
  pod.metadata.creation_timestamp = test::at(20);
  pod.metadata.labels[api::kJobUidLabel] = "uid-job";
  pod.spec.node_name = "a";
  put(caches_.pods, pod);
  look();
  EXPECT_TRUE(told(1));
}

}  // namespace
}  // namespace gpupool::controllers
