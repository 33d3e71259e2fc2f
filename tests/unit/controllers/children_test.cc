#include "controllers/cluster/children.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/controllers/server_and_caches.h"
#include "tests/unit/planning/builders.h"

namespace gpupool::controllers {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;

constexpr char kNotFound[] = R"({"kind":"Status","reason":"NotFound","code":404})";
constexpr char kEmptyList[] = R"({"metadata":{"resourceVersion":"7"},"items":[]})";

std::string child(const std::string& owner, const std::string& more = "") {
  return R"({"metadata":{"name":"job-1","namespace":"ns","uid":"uid-child")" + more +
         R"(,"ownerReferences":[{"kind":"GpuJob","name":"job","uid":")" + owner +
         R"(","controller":true}]}})";
}

class ChildrenTest : public testing::Test, protected test::ServerAndCaches {
 protected:
  api::GpuJob leased(std::int64_t gpus, std::int64_t n) {
    auto job = test::make_job("job", gpus);
    job.status.lease = test::make_lease(job, api::lease_state::kTaking, {"a"}, n);
    job.status.lease_sequence = n;
    return job;
  }
  std::vector<std::string> asked() const {
    std::vector<std::string> targets;
    for (const auto& request : transport_.sent()) {
      const auto query = request.target.find('?');
      targets.push_back(request.method + " " + request.target.substr(0, query));
    }
    return targets;
  }

  Children children_{client_, caches_, clock_, "launcher"};
};

// A list makes the server read all Jobs of the namespace, however few it returns.
TEST_F(ChildrenTest, OfFewLeasesAreReadByName) {
  transport_.answer(404, kNotFound);
  transport_.answer(200, child("uid-job"));  // somebody took its labels off
  const auto found = children_.live(leased(1, 2), {});
  ASSERT_TRUE(found);
  EXPECT_THAT(asked(), ElementsAre("GET /apis/batch/v1/namespaces/ns/jobs/job-1",
                                   "GET /apis/batch/v1/namespaces/ns/jobs/job-2"));
  ASSERT_EQ(found->size(), 1U);
  EXPECT_EQ(found->front().lease_id, "uid-job.2");
}

TEST_F(ChildrenTest, OfAGangAreAStatefulSetAndAService) {
  transport_.answer(200, child("uid-job"));
  transport_.answer(200, child("somebody"));
  const auto found = children_.live(leased(2, 1), {});
  ASSERT_TRUE(found);
  EXPECT_THAT(asked(), ElementsAre("GET /apis/apps/v1/namespaces/ns/statefulsets/job-1",
                                   "GET /api/v1/namespaces/ns/services/job-1"));
  ASSERT_EQ(found->size(), 1U) << "the Service is another's";
  EXPECT_EQ(found->front().type, &api::StatefulSet::kType);
}

TEST_F(ChildrenTest, OfManyLeasesOrOfAnotherShapeAreListed) {
  auto edited = leased(1, 1);
  edited.spec.gpus = 2;  // the lease was for one
  for (const auto& job : {leased(1, 5), edited}) {
    const auto before = asked().size();
    for (int i = 0; i < 3; ++i) transport_.answer(200, kEmptyList);
    const auto found = children_.live(job, {});
    ASSERT_TRUE(found);
    EXPECT_THAT(*found, IsEmpty());
    EXPECT_EQ(asked().size(), before + 3);
    EXPECT_EQ(asked().back(), "GET /api/v1/namespaces/ns/services");
  }
}

TEST_F(ChildrenTest, AFailedReadIsNoAbsence) {
  transport_.answer(400, R"({"kind":"Status","code":400})");
  EXPECT_FALSE(children_.live(leased(1, 1), {}));
}

class RefusedCreate : public ChildrenTest, public testing::WithParamInterface<int> {};

// An earlier try made it, and has had the last of the namespace's quota.
TEST_P(RefusedCreate, IsNoneWhereTheChildExists) {
  transport_.answer(GetParam(), R"({"kind":"Status","message":"exceeded quota"})");
  transport_.answer(200, child("uid-job", R"(,"labels":{"gpupool.dev/lease":"uid-job.1"})"));
  const auto made = children_.create(leased(1, 1), {"nvidia.com/gpu", std::nullopt}, {});
  ASSERT_TRUE(made);
  EXPECT_TRUE(made->complete);
  EXPECT_THAT(children_.cached(leased(1, 1)), testing::SizeIs(1));
}

TEST_P(RefusedCreate, IsAProblemWhereItDoesNot) {
  for (const bool foreign : {false, true}) {
    transport_.answer(GetParam(), R"({"kind":"Status","message":"exceeded quota"})");
    foreign ? transport_.answer(200, child("somebody")) : transport_.answer(404, kNotFound);
    const auto made = children_.create(leased(1, 1), {"nvidia.com/gpu", std::nullopt}, {});
    ASSERT_TRUE(made);
    ASSERT_TRUE(made->problem.has_value());
    EXPECT_THAT(made->problem->message, HasSubstr("exceeded quota"));
  }
}

TEST_P(RefusedCreate, IsNotJudgedWithoutAnAnswer) {
  transport_.answer(GetParam(), R"({"kind":"Status","message":"exceeded quota"})");
  transport_.answer(400, R"({"kind":"Status","code":400})");
  EXPECT_FALSE(children_.create(leased(1, 1), {"nvidia.com/gpu", std::nullopt}, {}));
}

INSTANTIATE_TEST_SUITE_P(Codes, RefusedCreate, testing::Values(400, 403, 422));

}  // namespace
}  // namespace gpupool::controllers
