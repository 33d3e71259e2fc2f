// The requests of a reconcile, one by one, against a server that accepts everything.
#include "controllers/gpujob/reconciler.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "api/v1alpha1/names.h"
#include "api/v1alpha1/status_json.h"
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

  // A job whose lease of one node is this far; its node carries the value.
  void lease(const std::string& state) {
    job_ = test::make_job();
    auto& pod_template = job_.spec.pod_template.text;  // as the answers below will have it
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

  // The job was deleted while its worker ran, which has ended by now.
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
    put(caches_.pods, std::move(pod));
  }

  template <class K>
  static void vanish(runtime::Informer<K>& informer, const std::string& name) {
    runtime::StoreWriter<K>(informer.store()).remove({"ns", name});
  }

  base::Result<runtime::Requeue> reconcile() { return reconciler_.reconcile({"ns", "job"}, log_, {}); }

  std::vector<std::string> requests() const {
    std::vector<std::string> all;
    for (const auto& request : transport_.sent()) {
      const auto target = request.target.substr(0, request.target.find('?'));
      const auto body = Json::parse(request.body, nullptr, false);
      const bool says = body.is_object() && body.contains("status") && body["status"].contains("lease");
      const auto& state = says ? body["status"]["lease"] : Json();
      all.push_back(request.method + " " + target +
                    (says ? " " + (state.is_null() ? "none" : state["state"].get<std::string>()) : ""));
    }
    return all;
  }

  base::Duration until_count() {
    Pass pass;
    pass.job = test::share(job_);
    return observer_.observe(pass).until_count;
  }

  std::string version_on_server = "7";
  bool name_is_leaving = false;  // the child's: an earlier one is being deleted

 private:
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

  PoolQueue queue_{caches_};
  Children children_{client_, caches_, clock_, "launcher"};
  NodeReadiness readiness_{clock_};
  JobObserver observer_{client_, caches_, children_, queue_, readiness_, clock_};
  JobWriter job_writer_{client_, caches_};
  NodeWriter node_writer_{client_, caches_};
  NodeLeases node_leases_{node_writer_};
  WorkerPods pods_{client_, clock_};
  JobMetrics job_metrics_{metrics_};
  runtime::EventRecorder events_{client_, "test", "test", clock_, metrics_, log_};
  GpuJobReconciler reconciler_{{caches_, queue_, observer_, job_writer_, node_leases_, children_, pods_,
                                job_metrics_, events_, clock_}};
  api::GpuJob job_;
};

// No reads, and the pod that proves it stays until the node is free.
TEST_F(JobReconcilerTest, ASuccessIsCleanedUpInOneGo) {
  lease(api::lease_state::kRunning);
  show_workload();
  show_success();
  ASSERT_TRUE(reconcile());
  const std::string status = std::string("PATCH ") + kJob + "/status";
  EXPECT_THAT(requests(),
              ElementsAre(status + " Releasing", std::string("DELETE ") + kChild, "PATCH /api/v1/nodes/a",
                          std::string("DELETE ") + kPod, std::string("PATCH ") + kPod, status + " none"));
}

// An operator that did not write Releasing itself has it from a cache, which may be old.
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

// Deleted before its Job, which this cache does not show, the pod would be made anew.
TEST_F(JobReconcilerTest, APodIsNotDeletedBeforeWhatMadeIt) {
  delete_running();
  vanish(caches_.batch_jobs, "job-1");
  ASSERT_TRUE(reconcile());
  EXPECT_EQ(requests().at(0), std::string("GET ") + kChild);
}

TEST_F(JobReconcilerTest, NothingIsFreedWhileTheCacheShowsThePodAsItWas) {
  delete_running();
  auto over = test::ended(test::make_pod(), 1);
  over.status.phase = "Failed";
  show_worker(over);
  ASSERT_TRUE(reconcile());
  ASSERT_TRUE(reconcile());
  EXPECT_THAT(requests(), testing::Not(testing::Contains("PATCH /api/v1/nodes/a")));
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
  EXPECT_THAT(requests(), ElementsAre(std::string("GET ") + kJob, "POST /apis/batch/v1/namespaces/ns/jobs",
                                      std::string("PATCH ") + kJob + "/status Running"));
}

// Nobody stands still in Taking: whoever waits says that all nodes are held, and the deadline begins to
// count.
TEST_F(JobReconcilerTest, WorkersThatCannotBeMadeAtOnceAreWaitedForInHeld) {
  lease(api::lease_state::kTaking);
  name_is_leaving = true;
  const auto done = reconcile();
  ASSERT_TRUE(done);
  EXPECT_TRUE(done->after.has_value());
  const std::string post = "POST /apis/batch/v1/namespaces/ns/jobs";
  const auto get = std::string("GET ") + kChild;
  EXPECT_THAT(requests(), ElementsAre(std::string("GET ") + kJob, post, get,
                                      std::string("PATCH ") + kJob + "/status Held"));
}

TEST_F(JobReconcilerTest, EndedWorkersAreCountedASecondAfterTheLastStatus) {
  lease(api::lease_state::kTaking);
  EXPECT_EQ(until_count(), base::Duration::zero());
  ASSERT_TRUE(reconcile());
  EXPECT_EQ(until_count(), std::chrono::seconds(1));
  clock_.advance(std::chrono::seconds(1));
  EXPECT_EQ(until_count(), base::Duration::zero());
}

TEST_F(JobReconcilerTest, NoWorkersAreMadeForALeaseThatIsOver) {
  lease(api::lease_state::kTaking);
  version_on_server = "9";
  EXPECT_FALSE(reconcile());
  EXPECT_THAT(requests(), ElementsAre(std::string("GET ") + kJob));
}

}  // namespace
}  // namespace gpupool::controllers
