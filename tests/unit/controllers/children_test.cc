// SPDX-License-Identifier: Apache-2.0
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

  Children children_{client_, caches_, {"launcher", "carry"}, clock_};
};

// The garbage collector may be slow, and what it has not deleted yet holds nothing.
TEST_F(ChildrenTest, AnEndedJobOfAnEarlierJobOfTheNameMakesRoom) {
  transport_.answer(409, R"({"kind":"Status","reason":"AlreadyExists","code":409})");
  auto old = child("uid-earlier");
  old.insert(old.size() - 1, R"(,"status":{"succeeded":1})");
  transport_.answer(200, old);
  transport_.answer(200, R"({"kind":"Status","status":"Success"})");
  const auto made = children_.create(leased(1, 1), {});
  ASSERT_TRUE(made);
  EXPECT_FALSE(made->complete);
  EXPECT_FALSE(made->problem);
  EXPECT_EQ(asked().back(), "DELETE /apis/batch/v1/namespaces/ns/jobs/job-1");
  EXPECT_THAT(transport_.sent().back().body, HasSubstr("uid-child"));
}

TEST_F(ChildrenTest, AJobOfAnEarlierJobOfTheNameThatHasNotEndedIsLeftToItsCollector) {
  transport_.answer(409, R"({"kind":"Status","reason":"AlreadyExists","code":409})");
  transport_.answer(200, child("uid-earlier"));
  const auto made = children_.create(leased(1, 1), {});
  ASSERT_TRUE(made);
  EXPECT_FALSE(made->waits_for.empty());
  EXPECT_EQ(asked().back(), "GET /apis/batch/v1/namespaces/ns/jobs/job-1");
}

// For a list, the server reads all Jobs of the namespace, however few it returns.
TEST_F(ChildrenTest, OfFewLeasesAreReadByName) {
  transport_.answer(404, kNotFound);
  transport_.answer(200, child("uid-job"));  // somebody has removed its labels
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
  edited.spec.gpus = 2;  // the lease is for one GPU
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

class FirstAnswerTest : public ChildrenTest {
 protected:
  // The answer to a job of this name, and whether the server was asked.
  std::pair<std::string, bool> ask(const std::string& name) {
    const auto before = transport_.sent().size();
    const auto answer = children_.rehearse_first(test::make_job(name), {});
    if (!answer || !*answer) return {"none", transport_.sent().size() > before};
    return {**answer ? (**answer)->reason : "accepted", transport_.sent().size() > before};
  }
  void accept() { transport_.answer(201, R"({"x":"gpupool.dev.node-restriction.kubernetes.io/lease"})"); }
  void refuse(const std::string& message) {
    transport_.answer(403, R"({"kind":"Status","message":")" + message + R"("})");
  }
  using Told = std::pair<std::string, bool>;
};

TEST_F(FirstAnswerTest, IsAskedOnceForJobsWithTheSameTemplate) {
  accept();
  EXPECT_EQ(ask("one"), Told("accepted", true));
  EXPECT_THAT(transport_.sent().back().target, HasSubstr("/api/v1/namespaces/ns/pods?dryRun=All"));
  for (int i = 0; i < 100; ++i) EXPECT_EQ(ask("job-" + std::to_string(i)), Told("accepted", false));
  auto other = test::with_template(test::make_job("other"), R"("hostname":"x")");
  refuse("exceeded quota: q, requested: pods=1");
  ASSERT_TRUE(children_.rehearse_first(other, {}).has_value());
  EXPECT_EQ(ask("one"), Told("accepted", false));
}

TEST_F(FirstAnswerTest, IsAskedAgainSoonAfterARefusal) {
  refuse("exceeded quota: q, requested: pods=1");
  EXPECT_EQ(ask("one"), Told("QuotaExceeded", true));
  EXPECT_EQ(ask("two"), Told("QuotaExceeded", false));
  const auto again = children_.rehearse(test::make_job("two"), {});
  ASSERT_TRUE(again && *again) << "a job that was refused asks the same question";
  EXPECT_EQ((*again)->reason, "QuotaExceeded");
  clock_.advance(std::chrono::seconds(6));
  accept();
  EXPECT_EQ(ask("two"), Told("accepted", true));
}

TEST_F(FirstAnswerTest, IsNotKeptIfThereIsNone) {
  transport_.fail(base::ErrorCode::kCancelled);
  EXPECT_EQ(ask("one").first, "none");
  accept();
  EXPECT_EQ(ask("one"), Told("accepted", true));
}

TEST_F(FirstAnswerTest, ADryRunThatIsNotSupportedRefusesNothing) {
  transport_.answer(400, R"({"kind":"Status","reason":"BadRequest","code":400,"message":
    "admission webhook \"w\" does not support dry run"})");
  EXPECT_EQ(ask("one"), Told("accepted", true));
}

TEST_F(FirstAnswerTest, AServerThatFailsRefusesNothing) {
  for (const int status : {500, 503, 504}) {
    transport_.answer(status, R"({"kind":"Status","message":"etcdserver: request timed out"})");
    EXPECT_EQ(ask("one"), Told("accepted", true)) << status;
    clock_.advance(std::chrono::seconds(61));
  }
}

TEST_F(FirstAnswerTest, AWebhookThatFailsKeepsWorkersFromBeingMade) {
  transport_.answer(500, R"({"kind":"Status","reason":"InternalError","code":500,"message":
    "Internal error occurred: failed calling webhook \"w\": connection refused"})");
  EXPECT_EQ(ask("one"), Told("CreateFailed", true));
}

TEST_F(FirstAnswerTest, ANamespaceThatIsJustBeingMadeRefusesNothing) {
  refuse(
      R"(pods \"x\" is forbidden: error looking up service account ns/default: serviceaccount \"default\" not found)");
  EXPECT_EQ(ask("one"), Told("accepted", true));
}

TEST_F(FirstAnswerTest, AGangAsksTheQuotasForAllItsWorkers) {
  const auto gang = [](int workers) { return test::make_job("gang", workers); };
  const auto answer_with_room_for = [&](int pods) {
    transport_.answer(
        201, R"({"spec":{"x":"gpupool.dev.node-restriction.kubernetes.io/lease","containers":[{}]}})");
    transport_.answer(
        200,
        R"({"metadata":{"resourceVersion":"7"},"items":[{"metadata":{"name":"q"},"status":{"hard":{"pods":")" +
            std::to_string(pods) + R"("},"used":{"pods":"0"}}}]})");
  };
  answer_with_room_for(2);
  const auto first = children_.rehearse_first(gang(3), {});
  EXPECT_THAT(transport_.sent().back().target, HasSubstr("/api/v1/namespaces/ns/resourcequotas"));
  ASSERT_TRUE(first && *first && **first);
  EXPECT_EQ((**first)->reason, "QuotaExceeded");
  answer_with_room_for(2);
  const auto smaller = children_.rehearse_first(gang(2), {});
  ASSERT_TRUE(smaller && *smaller);
  EXPECT_FALSE(**smaller) << "a gang of another size has an answer of its own";
  const auto before = transport_.sent().size();
  accept();
  ASSERT_TRUE(children_.rehearse_first(gang(1), {}));
  EXPECT_EQ(transport_.sent().size(), before + 1) << "one worker asks no quota";
}

TEST_F(FirstAnswerTest, AGangWithoutTheRightToReadQuotasIsAccepted) {
  transport_.answer(201,
                    R"({"spec":{"x":"gpupool.dev.node-restriction.kubernetes.io/lease","containers":[{}]}})");
  transport_.answer(403, R"({"kind":"Status","reason":"Forbidden","message":"cannot list resourcequotas"})");
  const auto answer = children_.rehearse_first(test::make_job("gang", 3), {});
  ASSERT_TRUE(answer && *answer);
  EXPECT_FALSE(**answer);
}

class RefusedCreate : public ChildrenTest, public testing::WithParamInterface<int> {};

// An earlier try has created the child and used up the quota of the namespace.
TEST_P(RefusedCreate, IsNoneWhereTheChildExists) {
  transport_.answer(GetParam(), R"({"kind":"Status","message":"exceeded quota"})");
  transport_.answer(
      200,
      child("uid-job", R"(,"labels":{"gpupool.dev/lease":"uid-job.1","gpupool.dev/job-uid":"uid-job"})"));
  const auto made = children_.create(leased(1, 1), {});
  ASSERT_TRUE(made);
  EXPECT_TRUE(made->complete);
  EXPECT_THAT(children_.cached(leased(1, 1)), testing::SizeIs(1));
}

TEST_P(RefusedCreate, IsAProblemWhereItDoesNot) {
  for (const bool foreign : {false, true}) {
    transport_.answer(GetParam(), R"({"kind":"Status","message":"exceeded quota"})");
    foreign ? transport_.answer(200, child("somebody")) : transport_.answer(404, kNotFound);
    const auto made = children_.create(leased(1, 1), {});
    ASSERT_TRUE(made);
    ASSERT_TRUE(made->problem.has_value());
    EXPECT_THAT(made->problem->message, HasSubstr("exceeded quota"));
  }
}

TEST_P(RefusedCreate, IsNotJudgedWithoutAnAnswer) {
  transport_.answer(GetParam(), R"({"kind":"Status","message":"exceeded quota"})");
  transport_.answer(400, R"({"kind":"Status","code":400})");
  EXPECT_FALSE(children_.create(leased(1, 1), {}));
}

INSTANTIATE_TEST_SUITE_P(Codes, RefusedCreate, testing::Values(400, 403, 422));

}  // namespace
}  // namespace gpupool::controllers
