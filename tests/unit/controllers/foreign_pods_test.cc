#include "controllers/sweeper/foreign_pods.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/controllers/server_and_caches.h"
#include "tests/unit/planning/builders.h"

namespace gpupool::controllers {
namespace {

constexpr char kNobody[] = R"({"metadata":{"resourceVersion":"7"},"items":[]})";

api::GpuJob make_holder(const std::string& uid = "uid-job") {
  auto job = test::make_job();
  job.metadata.uid = uid;
  job.status.start_time = test::at(10);
  return job;
}

std::shared_ptr<const api::Pod> make_guest(const std::string& name, std::int64_t created = 20) {
  api::Pod pod;
  pod.metadata.ns = "theirs";
  pod.metadata.name = name;
  pod.metadata.uid = "uid-" + name;
  pod.metadata.creation_timestamp = test::at(created);
  pod.spec.node_name = "a";
  return test::share(std::move(pod));
}

class ForeignPodsTest : public testing::Test, protected test::ServerAndCaches {
 protected:
  bool look(const api::GpuJob& holder = make_holder()) {
    return foreign_.look(test::make_node("a"), holder, {}).has_value();
  }
  bool told(int times) {
    const auto line = "\ngpupool_foreign_pods_total " + std::to_string(times) + "\n";
    return metrics_.expose().find(line) != std::string::npos;
  }

  runtime::EventRecorder events_{client_, "test", "test", clock_, metrics_, log_};
  ForeignPods foreign_{client_, events_, metrics_};
};

// A read that goes past the server's cache would cost it every pod of the cluster.
TEST_F(ForeignPodsTest, AreReadFromTheServersCache) {
  transport_.answer(200, kNobody);
  ASSERT_TRUE(look());
  ASSERT_EQ(transport_.sent().size(), 1U);
  EXPECT_THAT(transport_.sent()[0].target, testing::HasSubstr("fieldSelector=spec.nodeName%3Da"));
  EXPECT_THAT(transport_.sent()[0].target, testing::HasSubstr("resourceVersion=0"));
}

TEST_F(ForeignPodsTest, AreListedOnceForEachHolderAndWhenInDoubt) {
  for (int i = 0; i < 3; ++i) transport_.answer(200, kNobody);
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(look());
  EXPECT_EQ(transport_.sent().size(), 1U);
  foreign_.doubt();
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(look());
  EXPECT_EQ(transport_.sent().size(), 2U);
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(look(make_holder("uid-next")));
  EXPECT_EQ(transport_.sent().size(), 3U);
}

TEST_F(ForeignPodsTest, AreListedAgainAfterAFailure) {
  transport_.answer(403, "{}");
  EXPECT_FALSE(look());
  transport_.answer(200, kNobody);
  EXPECT_TRUE(look());
  EXPECT_TRUE(look());
}

TEST_F(ForeignPodsTest, ThatComeLaterAreToldOnceAndWithoutARead) {
  transport_.answer(200, kNobody);
  ASSERT_TRUE(look());
  foreign_.came(make_guest("guest"));
  foreign_.came(make_guest("was-there-before", 5));
  ASSERT_TRUE(look());
  EXPECT_TRUE(told(1));
  foreign_.came(make_guest("guest"));
  ASSERT_TRUE(look());
  EXPECT_TRUE(told(1));
  EXPECT_EQ(transport_.sent().size(), 1U);
}

TEST_F(ForeignPodsTest, OfOneHolderAreNotToldToTheNext) {
  for (int i = 0; i < 2; ++i) transport_.answer(200, kNobody);
  ASSERT_TRUE(look());
  foreign_.came(make_guest("guest"));
  ASSERT_TRUE(look(make_holder("uid-next")));
  EXPECT_TRUE(told(0)) << "the list says what is there now";
}

}  // namespace
}  // namespace gpupool::controllers
