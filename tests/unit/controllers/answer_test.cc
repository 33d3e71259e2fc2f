// SPDX-License-Identifier: Apache-2.0
// Answers to people who ask why a job waits: how many, when, and what they name.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>

#include "api/v1alpha1/names.h"
#include "controllers/gpujob/cluster_actions.h"
#include "controllers/gpujob/reconciler.h"
#include "tests/unit/controllers/server_and_caches.h"
#include "tests/unit/planning/builders.h"

namespace gpupool::controllers {
namespace {

using std::chrono::seconds;
using testing::HasSubstr;
using testing::Not;

// A pool with one node, which a job of another namespace holds, and jobs that wait for it. The server keeps
// what is written to them.
class AnswerTest : public testing::Test, protected test::ServerAndCaches {
 protected:
  AnswerTest() {
    transport_.on_request = [this](const net::HttpRequest& request) { answer(request); };
    auto pool = test::make_pool();
    pool.metadata.finalizers = {api::kPoolFinalizer};
    put(caches_.pools, pool);
    put(caches_.nodes, test::make_node("a"));
    auto holder = test::make_job("secret");
    holder.metadata.ns = "theirs";
    holder.metadata.uid = "uid-secret";
    holder.spec.active_deadline_seconds = 500;
    holder.status.start_time = clock_.wall();
    holder.status.phase = api::phase::kRunning;
    holder.status.lease = test::make_lease(holder, api::lease_state::kRunning, {"a"});
    put(caches_.jobs, holder);
    operate_anew();
  }

  void operate_anew() {
    reconciler_.reset();
    actions_.reset();
    explainer_ = std::make_unique<Explainer>(caches_, queue_, clock_);
    actions_ =
        std::make_unique<ClusterActions>(client_, caches_, queue_, *explainer_, readiness_, job_metrics_,
                                         events_, clock_, WorkerSettings{{"launcher", "carry"}}, Money());
    reconciler_ = std::make_unique<GpuJobReconciler>(*actions_, clock_);
  }

  void submit(const std::string& name, const std::string& ns = "ns") {
    auto& job = jobs_[ns + "/" + name];
    job["metadata"] = {{"name", name},           {"namespace", ns}, {"uid", "uid-" + ns + name},
                       {"resourceVersion", "1"}, {"generation", 1}, {"finalizers", {api::kLease}}};
    job["spec"] = {{"pool", "lab"},
                   {"gpus", 1},
                   {"gpusPerWorker", 1},
                   {"template", nlohmann::json::parse(test::make_job().spec.pod_template.text)}};
    show(job);
    ASSERT_TRUE(reconcile(name, ns));
  }
  void ask(const std::string& name, const std::string& nonce, const std::string& ns = "ns") {
    auto& job = jobs_[ns + "/" + name];
    job["metadata"]["annotations"][api::kExplain] = nonce;
    show(job);
  }
  base::Result<runtime::Requeue> reconcile(const std::string& name = "me", const std::string& ns = "ns") {
    return reconciler_->reconcile({ns, name}, log_, {});
  }
  nlohmann::json answer_of(const std::string& name = "me", const std::string& ns = "ns") {
    return jobs_[ns + "/" + name]["status"].value("explanation", nlohmann::json());
  }
  std::size_t writes() const {
    return static_cast<std::size_t>(std::ranges::count_if(
        transport_.sent(), [](const auto& request) { return request.method != "GET"; }));
  }

  void explain_changes(const runtime::Change<api::GpuJob>& change) { explainer_->on_job(change); }

 private:
  void show(nlohmann::json& job) {
    auto& version = job["metadata"]["resourceVersion"];
    version = std::to_string(++version_);
    put(caches_.jobs, base::json::read<api::GpuJob>(job.dump()).value());
  }

  void answer(const net::HttpRequest& request) {
    const auto body = nlohmann::json::parse(request.body, nullptr, false);
    const auto& about = body.at("metadata");
    auto& job =
        jobs_.at(about.at("namespace").get<std::string>() + "/" + about.at("name").get<std::string>());
    job["status"] = body.at("status");
    show(job);
    transport_.answer(200, job.dump());
  }

  std::map<std::string, nlohmann::json> jobs_;
  int version_ = 10;
  PoolQueue queue_{caches_, clock_};
  NodeReadiness readiness_{clock_};
  JobMetrics job_metrics_{metrics_};
  runtime::EventRecorder events_{client_, "test", "test", clock_, metrics_, log_};
  std::unique_ptr<Explainer> explainer_;
  std::unique_ptr<ClusterActions> actions_;
  std::unique_ptr<GpuJobReconciler> reconciler_;
};

TEST_F(AnswerTest, NobodyAsks) {
  submit("me");
  EXPECT_EQ(writes(), 1U) << "the phase";
  const auto done = reconcile();
  ASSERT_TRUE(done);
  EXPECT_FALSE(done->after) << "no timer";
  EXPECT_EQ(writes(), 1U);
  EXPECT_TRUE(answer_of().is_null());
}

TEST_F(AnswerTest, OneWriteForOneQuestion) {
  submit("first", "theirs");
  submit("mine");
  submit("me");
  const auto before = writes();
  ask("me", "n1");
  ASSERT_TRUE(reconcile());
  EXPECT_EQ(writes(), before + 1);
  const auto found = answer_of();
  EXPECT_EQ(found["request"], "n1");
  EXPECT_EQ(found["ahead"]["jobs"], 2);
  EXPECT_EQ(found["ahead"]["yours"], nlohmann::json({"mine"}));
  EXPECT_THAT(found.dump(),
              Not(testing::AnyOf(HasSubstr("first"), HasSubstr("secret"), HasSubstr("theirs"))));
  for (int i = 0; i < 3; ++i) {
    const auto done = reconcile();
    ASSERT_TRUE(done);
    EXPECT_FALSE(done->after);
  }
  clock_.advance(seconds(60));
  operate_anew();
  ASSERT_TRUE(reconcile());
  EXPECT_EQ(writes(), before + 1) << "answered already, also for the next operator";
}

TEST_F(AnswerTest, AJobIsAnsweredOnceInTenSeconds) {
  submit("me");
  ask("me", "n1");
  ASSERT_TRUE(reconcile());
  clock_.advance(seconds(3));
  ask("me", "n2");
  const auto done = reconcile();
  ASSERT_TRUE(done);
  EXPECT_EQ(done->after, base::Duration(seconds(7)));
  EXPECT_EQ(answer_of()["request"], "n1");
  clock_.advance(seconds(7));
  ASSERT_TRUE(reconcile());
  EXPECT_EQ(answer_of()["request"], "n2") << "later, but not lost";
}

TEST_F(AnswerTest, OneAnswerASecondAndNamespacesTakeTurns) {
  for (const auto* name : {"a", "b", "c"}) submit(name);
  submit("other", "theirs");
  for (const auto* name : {"a", "b", "c"}) ask(name, "n");
  ask("other", "n", "theirs");
  ASSERT_TRUE(reconcile("a"));
  EXPECT_FALSE(answer_of("a").is_null());
  EXPECT_EQ(reconcile("b")->after, base::Duration(seconds(1)));
  EXPECT_EQ(reconcile("c")->after, base::Duration(seconds(2)));
  EXPECT_EQ(reconcile("other", "theirs")->after, base::Duration(seconds(1)));
  EXPECT_EQ(reconcile("c")->after, base::Duration(seconds(3))) << "two namespaces wait";
  clock_.advance(seconds(1));
  ASSERT_TRUE(reconcile("other", "theirs"));
  EXPECT_FALSE(answer_of("other", "theirs").is_null());
  EXPECT_TRUE(answer_of("b").is_null());
  clock_.advance(seconds(1));
  ASSERT_TRUE(reconcile("b"));
  EXPECT_FALSE(answer_of("b").is_null());
}

TEST_F(AnswerTest, JobsThatEndedTellHowLongOthersTake) {
  caches_.jobs.on_change([this](const runtime::Change<api::GpuJob>& change) { explain_changes(change); });
  auto ended = *caches_.jobs.store().get({"theirs", "secret"});
  ended.metadata.name = "earlier";
  ended.status.lease.reset();
  ended.status.phase = api::phase::kSucceeded;
  ended.status.completion_time = *ended.status.start_time + seconds(200);
  put(caches_.jobs, ended);
  put(caches_.jobs, ended);
  submit("me");
  ask("me", "n1");
  ASSERT_TRUE(reconcile());
  EXPECT_EQ(answer_of()["start"]["basis"], "History");
  EXPECT_EQ(answer_of()["start"]["samples"], 1) << "an ended job counts once";
}

}  // namespace
}  // namespace gpupool::controllers
