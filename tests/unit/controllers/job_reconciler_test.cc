// SPDX-License-Identifier: Apache-2.0
// Checks each request of a reconcile, against a server that accepts everything.
#include "controllers/gpujob/reconciler.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "api/v1alpha1/names.h"
#include "api/v1alpha1/status_json.h"
#include "controllers/gpujob/cluster_actions.h"
#include "tests/unit/controllers/server_and_caches.h"
#include "tests/unit/planning/builders.h"

namespace gpupool::controllers {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using Json = nlohmann::json;

constexpr char kJob[] = "/apis/gpupool.dev/v1alpha1/namespaces/ns/gpujobs/job";
constexpr char kChild[] = "/apis/batch/v1/namespaces/ns/jobs/job-1";
constexpr char kPod[] = "/api/v1/namespaces/ns/pods/job-1-0";

class JobReconcilerTest : public testing::Test, protected test::ServerAndCaches {
 protected:
  JobReconcilerTest() {
    transport_.on_request = [this](const net::HttpRequest& request) { answer(request); };
    put(caches_.pools, test::make_pool());
  }

  // Gives the job a lease of one node in this state; the node carries the value.
  void lease(const std::string& state) {
    job_ = test::make_job();
    auto& pod_template = job_.spec.pod_template.text;  // as in the answers below
    pod_template = Json::parse(pod_template).dump();
    job_.metadata.resource_version = "7";
    job_.metadata.finalizers = {api::kLease};
    job_.status.lease = test::make_lease(job_, state, {"a"});
    job_.status.lease_sequence = 1;
    put(caches_.jobs, job_);
    auto node = test::make_node("a");
    node.metadata.resource_version = "5";
    node.spec.taints = {{api::kLease, "uid-job.1", api::kNoSchedule}};
    node.metadata.labels[api::kNodeLeaseLabel] = "uid-job.1";
    node.metadata.annotations[api::kLease] = "ns/job";
    put(caches_.nodes, node);
  }

  void show_workload() {
    api::BatchJob child;
    child.metadata.name = "job-1";
    child.metadata.ns = "ns";
    child.metadata.uid = "uid-child";
    child.metadata.labels = {{api::kLease, "uid-job.1"}, {api::kJobUidLabel, "uid-job"}};
    child.metadata.owner_references = {{"GpuJob", "job", "uid-job", true}};
    put(caches_.batch_jobs, child);
  }

  void show_success() {
    auto pod = test::ended(test::make_pod(), 0, test::exited_result(0));
    pod.status.phase = "Succeeded";
    show_worker(std::move(pod));
  }

  // The job is deleted while its worker runs; the worker has ended since.
  void delete_running() {
    lease(api::lease_state::kReleasing);
    job_.metadata.deletion_timestamp = test::at(0);
    job_.status.lease->outcome = api::outcome::kDeleted;
    job_.status.lease->spec_hash = api::spec_hash(job_.spec);
    put(caches_.jobs, job_);
    show_workload();
    show_worker(test::running(test::make_pod()));
  }

  void show_worker(api::Pod pod) {
    pod.spec.node_name = "a";
    pod.metadata.owner_references = {{"Job", "job-1", "uid-child", true}};
    pod.metadata.labels[api::kJobUidLabel] = "uid-job";
    pod.metadata.resource_version = std::to_string(pod.metadata.deleting() ? 20 : 5);
    put(caches_.pods, std::move(pod));
  }

  base::Result<runtime::Requeue> reconcile() { return reconciler_.reconcile({"ns", "job"}, log_, {}); }

  std::vector<std::string> requests() const {
    std::vector<std::string> all;
    for (const auto& request : transport_.sent()) {
      const auto target = request.target.substr(0, request.target.find('?'));
      const auto body = Json::parse(request.body, nullptr, false);
      const bool says = body.is_object() && body.contains("status");
      const bool leased = says && body["status"].contains("lease");
      const auto state = leased ? body["status"]["lease"]["state"].get<std::string>() : "none";
      all.push_back(request.method + " " + target + (says ? " " + state : ""));
    }
    return all;
  }

  std::string version_on_server = "7";
  bool name_is_leaving = false;  // an earlier child with the same name is being deleted

 private:
  // Returns a worker that was deleted after it had ended, as the server has it.
  Json deleted_pod(bool with_finalizer) const {
    const auto pod = caches_.pods.store().get({"ns", "job-1-0"});
    Json object = {{"spec", {{"nodeName", "a"}}}, {"status", {{"phase", pod->status.phase}}}};
    auto& metadata = object["metadata"];
    metadata = {{"name", "job-1-0"}, {"namespace", "ns"}, {"uid", pod->metadata.uid}};
    metadata["resourceVersion"] = with_finalizer ? "10" : "11";
    metadata["labels"] = pod->metadata.labels;
    metadata["ownerReferences"] = {
        {{"kind", "Job"}, {"name", "job-1"}, {"uid", "uid-child"}, {"controller", true}}};
    metadata["deletionTimestamp"] = "2026-01-02T03:04:05Z";
    metadata["deletionGracePeriodSeconds"] = 0;
    if (with_finalizer) metadata["finalizers"] = {api::kWorkerFinalizer};
    return object;
  }

  void answer(const net::HttpRequest& request) {
    if (name_is_leaving && request.method == "POST") {
      transport_.answer(409, R"({"kind":"Status","reason":"AlreadyExists"})");
      return;
    }
    if (name_is_leaving && request.target.starts_with(kChild)) {
      transport_.answer(
          200, R"({"metadata":{"name":"job-1","uid":"u","deletionTimestamp":"2026-01-02T03:04:05Z"}})");
      return;
    }
    if (request.target.starts_with(kPod)) {
      transport_.answer(200, deleted_pod(request.method == "DELETE").dump());
      return;
    }
    Json object = {{"metadata", {{"name", "job"}, {"namespace", "ns"}, {"uid", "uid-job"}}}};
    auto& metadata = object["metadata"];
    metadata["resourceVersion"] = request.method == "GET" ? version_on_server : "8";
    metadata["finalizers"] = {api::kLease};
    metadata["generation"] = 1;
    object["spec"] = {{"pool", "lab"},
                      {"gpus", 1},
                      {"gpusPerWorker", 1},
                      {"template", Json::parse(job_.spec.pod_template.text)}};
    const auto body = Json::parse(request.body, nullptr, false);
    if (body.is_object() && body.contains("status")) object["status"] = body["status"];
    if (request.method == "POST") {
      object = body;
      object["metadata"]["uid"] = "uid-child";
    }
    transport_.answer(200, object.dump());
  }

  PoolQueue queue_{caches_, clock_};
  NodeReadiness readiness_{clock_};
  JobMetrics job_metrics_{metrics_};
  runtime::EventRecorder events_{client_, "test", "test", clock_, metrics_, log_};

 protected:
  Explainer explainer_{caches_, queue_, clock_};
  ClusterActions actions_{
      client_, caches_, queue_, explainer_, readiness_, job_metrics_, events_, clock_, {"launcher", "carry"},
      {}};
  GpuJobReconciler reconciler_{actions_, clock_};
  api::GpuJob job_;
};

// No reads: the pod proves the end. It is released when its Job has counted it, and has left the cache by
// that.
TEST_F(JobReconcilerTest, ASuccessIsCleanedUpInOneGo) {
  const std::string status = std::string("PUT ") + kJob + "/status";
  const auto release = std::string("PATCH ") + kPod;
  lease(api::lease_state::kRunning);
  show_workload();
  show_success();
  ASSERT_TRUE(reconcile());
  EXPECT_THAT(requests(), ElementsAre(status + " Releasing", "PATCH /api/v1/nodes/a", status + " none"));
  ASSERT_TRUE(reconcile());
  EXPECT_EQ(requests().size(), 3U) << "its Job might create another pod";
  vanish(caches_.batch_jobs, "job-1");
  ASSERT_TRUE(reconcile());
  EXPECT_EQ(requests().back(), release);
  EXPECT_EQ(requests().size(), 4U);
  EXPECT_THAT(transport_.sent().back().body,
              testing::HasSubstr(R"({"op":"remove","path":"/metadata/labels/gpupool.dev~1job-uid"})"));
}

TEST_F(JobReconcilerTest, ASuccessThatWasCountedIsReleasedAfterItsStatus) {
  const std::string status = std::string("PUT ") + kJob + "/status";
  lease(api::lease_state::kRunning);
  show_success();
  ASSERT_TRUE(reconcile());
  EXPECT_THAT(requests(), ElementsAre(status + " Releasing", "PATCH /api/v1/nodes/a", status + " none",
                                      std::string("PATCH ") + kPod));
}

// An operator that has not written Releasing itself knows it only from a cache, which may be old.
TEST_F(JobReconcilerTest, ASuccessFoundAfterACrashIsConfirmedFirst) {
  lease(api::lease_state::kReleasing);
  show_success();
  ASSERT_TRUE(reconcile());
  EXPECT_EQ(requests().at(0), std::string("GET ") + kJob);
  EXPECT_EQ(requests().at(1), "PATCH /api/v1/nodes/a");
}

TEST_F(JobReconcilerTest, NothingIsFreedForAJobThatHasChanged) {
  lease(api::lease_state::kReleasing);
  show_success();
  version_on_server = "9";
  const auto done = reconcile();
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().code, base::ErrorCode::kConflict);
  EXPECT_THAT(requests(), ElementsAre(std::string("GET ") + kJob));
}

TEST_F(JobReconcilerTest, ADeletionThatWasSeenThroughNeedsNoLook) {
  delete_running();
  ASSERT_TRUE(reconcile());
  const std::vector<std::string> drop = {std::string("GET ") + kJob, std::string("DELETE ") + kChild,
                                         std::string("DELETE ") + kPod};
  EXPECT_EQ(requests(), drop);
  vanish(caches_.batch_jobs, "job-1");
  show_worker(test::deleted(test::ended(test::make_pod(), 143), 0));
  ASSERT_TRUE(reconcile());
  const auto all = requests();
  EXPECT_THAT(std::vector(all.begin() + 3, all.end()),
              ElementsAre(std::string("GET ") + kJob, "PATCH /api/v1/nodes/a", std::string("PATCH ") + kPod,
                          std::string("PATCH ") + kJob));
}

// If the pod were deleted before its Job, which this cache does not show, the Job would replace it.
TEST_F(JobReconcilerTest, APodIsNotDeletedBeforeWhatMadeIt) {
  delete_running();
  vanish(caches_.batch_jobs, "job-1");
  ASSERT_TRUE(reconcile());
  EXPECT_EQ(requests().at(0), std::string("GET ") + kChild);
}

// The server's answer to the deletion does not show what else the Job has created.
TEST_F(JobReconcilerTest, NothingIsFreedWithoutALookWhileTheWatchShowsThePodAsItWas) {
  delete_running();
  auto over = test::ended(test::make_pod(), 1);
  over.status.phase = "Failed";
  show_worker(over);
  ASSERT_TRUE(reconcile());
  ASSERT_TRUE(reconcile());
  const auto all = requests();
  const auto look = std::ranges::find(all, "GET /api/v1/namespaces/ns/pods");
  EXPECT_LT(look - all.begin(), std::ranges::find(all, "PATCH /api/v1/nodes/a") - all.begin());
}

TEST_F(JobReconcilerTest, ADeletionThatOthersBeganIsLookedAt) {
  delete_running();
  vanish(caches_.batch_jobs, "job-1");
  vanish(caches_.pods, "job-1-0");
  ASSERT_TRUE(reconcile());
  EXPECT_THAT(requests(), ElementsAre(std::string("GET ") + kChild, "GET /api/v1/namespaces/ns/pods",
                                      "PATCH /api/v1/nodes/a", std::string("PATCH ") + kJob));
}

TEST_F(JobReconcilerTest, WorkersOfALeaseFoundInTakingAreMadeAfterALookAtTheJob) {
  lease(api::lease_state::kTaking);
  ASSERT_TRUE(reconcile());
  EXPECT_THAT(requests(), ElementsAre(std::string("GET ") + kJob, "POST /apis/batch/v1/namespaces/ns/jobs"));
}

// One write says that the worker exists and that it runs.
TEST_F(JobReconcilerTest, AWorkerThatStartsIsWaitedFor) {
  const std::string status = std::string("PUT ") + kJob + "/status";
  lease(api::lease_state::kTaking);
  job_.status.lease->spec_hash = api::spec_hash(job_.spec);
  job_.status.lease->since = clock_.wall();
  put(caches_.jobs, job_);
  show_workload();
  const auto done = reconcile();
  ASSERT_TRUE(done);
  EXPECT_EQ(done->after, std::chrono::seconds(3));
  EXPECT_THAT(requests(), IsEmpty());
  show_worker(test::running(test::make_pod()));
  ASSERT_TRUE(reconcile());
  EXPECT_THAT(requests(), ElementsAre(status + " Running"));
}

TEST_F(JobReconcilerTest, AWorkerThatEndsBeforeItWasSeenRunningCostsNoStatus) {
  const std::string status = std::string("PUT ") + kJob + "/status";
  lease(api::lease_state::kTaking);
  show_success();
  ASSERT_TRUE(reconcile());
  EXPECT_THAT(requests(), ElementsAre(status + " Releasing", "PATCH /api/v1/nodes/a", status + " none",
                                      std::string("PATCH ") + kPod));
}

// A job does not wait in Taking: Held shows that all nodes are taken, and starts the deadline.
TEST_F(JobReconcilerTest, WorkersThatCannotBeMadeAtOnceAreWaitedForInHeld) {
  lease(api::lease_state::kTaking);
  name_is_leaving = true;
  const auto done = reconcile();
  ASSERT_TRUE(done);
  EXPECT_TRUE(done->after.has_value());
  const std::string post = "POST /apis/batch/v1/namespaces/ns/jobs";
  const auto get = std::string("GET ") + kChild;
  EXPECT_THAT(requests(), ElementsAre(std::string("GET ") + kJob, post, get,
                                      std::string("PUT ") + kJob + "/status Held"));
}

TEST_F(JobReconcilerTest, EndedWorkersAreCountedASecondAfterTheLastStatus) {
  lease(api::lease_state::kTaking);
  JobObserver observer(actions_, clock_);
  ReconcileState state;
  state.job = test::share(job_);
  EXPECT_EQ(observer.observe(state).until_count, base::Duration::zero());
  observer.on_status(job_, job_.status);
  EXPECT_EQ(observer.observe(state).until_count, std::chrono::seconds(1));
  clock_.advance(std::chrono::seconds(1));
  EXPECT_EQ(observer.observe(state).until_count, base::Duration::zero());
}

TEST_F(JobReconcilerTest, NoWorkersAreMadeForALeaseThatIsOver) {
  lease(api::lease_state::kTaking);
  version_on_server = "9";
  EXPECT_FALSE(reconcile());
  EXPECT_THAT(requests(), ElementsAre(std::string("GET ") + kJob));
}

}  // namespace
}  // namespace gpupool::controllers
