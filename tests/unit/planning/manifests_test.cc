// SPDX-License-Identifier: Apache-2.0
#include "planning/workers/manifests.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "api/v1alpha1/names.h"
#include "tests/unit/planning/builders.h"

namespace gpupool::planning {
namespace {

using Json = nlohmann::json;
const ManifestOptions kOptions{{"launcher:1", "carry:1"}, test::kGpus};
const Json kToleration = {
    {"key", api::kLease}, {"operator", "Equal"}, {"value", "uid-job.3"}, {"effect", "NoSchedule"}};
const Json kRequirement = {{"key", api::kNodeLeaseLabel}, {"operator", "In"}, {"values", {"uid-job.3"}}};

constexpr char kTemplate[] = R"({
  "metadata": {"labels": {"team": "x"}, "finalizers": ["other/x"], "ownerReferences": [{"name": "y"}]},
  "spec": {
    "terminationGracePeriodSeconds": 0,
    "containers": [
      {"name": "train", "image": "i", "command": ["sh", "-c"], "args": ["echo 'a  b'\necho c", ""],
       "env": [{"name": "MINE", "value": "1"}], "unknownField": {"kept": true}},
      {"name": "side", "command": ["side"]}],
    "initContainers": [{"name": "fetch"}],
    "tolerations": [{"key": "team", "operator": "Exists"}],
    "affinity": {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [
      {"matchExpressions": [{"key": "disk", "operator": "Exists"}]},
      {"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["a"]}]}]}}}}})";

struct Made {
  Json service;
  Json workload;
  Json pod;  // the template's spec
};

Made make(std::int64_t gpus, std::int64_t gpus_per_worker = 1, const std::string& pod_template = "") {
  auto job = test::make_job("job", gpus, gpus_per_worker);
  if (!pod_template.empty()) job.spec.pod_template.text = pod_template;
  job.status.lease = test::make_lease(job, api::lease_state::kHeld, {"a"}, 3);
  job.status.lease->attempt = 2;
  const auto made = make_manifests(job, kOptions);
  auto workload = Json::parse(made.workload);
  auto pod = workload["spec"]["template"]["spec"];
  return {made.service.empty() ? Json() : Json::parse(made.service), std::move(workload), std::move(pod)};
}

// Returns the launcher's own arguments: all before "--".
std::vector<std::string> launcher_flags(const Json& pod) {
  std::vector<std::string> flags;
  for (const auto& word : pod["containers"][0]["command"]) {
    if (word == "--") break;
    flags.push_back(word);
  }
  return flags;
}

std::map<std::string, std::string> environment(const Json& pod) {
  std::map<std::string, std::string> values;
  for (const auto& entry : pod["containers"][0]["env"]) values[entry["name"]] = entry.value("value", "");
  return values;
}

TEST(Manifests, OneWorkerIsAJobThatIsNotRepeated) {
  const auto made = make(1);
  EXPECT_TRUE(made.service.is_null());
  EXPECT_EQ(made.workload["kind"], "Job");
  EXPECT_EQ(made.workload["spec"]["backoffLimit"], 0);
  EXPECT_EQ(made.workload["spec"]["podReplacementPolicy"], "Failed");
  EXPECT_EQ(made.pod["restartPolicy"], "Never");
  EXPECT_THAT(launcher_flags(made.pod),
              testing::ElementsAre("/gpupool/gpupool-launch", "run", "--job=job", "--attempt=2", "--nnodes=1",
                                   "--nproc=1", "--master-addr=127.0.0.1", "--master-port=29500",
                                   "--result-bytes=3072", "--rank=0"));
}

TEST(Manifests, GangIsAStatefulSetAndAHeadlessService) {
  const auto made = make(4, 2);
  EXPECT_EQ(made.workload["kind"], "StatefulSet");
  EXPECT_EQ(made.workload["spec"]["replicas"], 2);
  EXPECT_EQ(made.workload["spec"]["podManagementPolicy"], "Parallel");
  EXPECT_EQ(made.workload["spec"]["serviceName"], "job-3");
  EXPECT_EQ(made.pod["restartPolicy"], "Always");
  const auto& service = made.service["spec"];
  EXPECT_EQ(service["clusterIP"], "None");
  EXPECT_EQ(service["publishNotReadyAddresses"], true);
  EXPECT_EQ(service["ports"][0]["protocol"], "TCP");
  EXPECT_EQ(service["selector"], Json({{api::kLease, "uid-job.3"}}));
  EXPECT_THAT(launcher_flags(made.pod),
              testing::ElementsAre("/gpupool/gpupool-launch", "run", "--job=job", "--attempt=2", "--nnodes=2",
                                   "--nproc=2", "--master-addr=job-3-0.job-3", "--master-port=29500",
                                   "--result-bytes=3072", "--pod-name=$(GPUPOOL_POD_NAME)", "--hold"));
  EXPECT_EQ(environment(made.pod)["GPUPOOL_ATTEMPT"], "2");
  EXPECT_TRUE(environment(made.pod).contains("GPUPOOL_POD_NAME"))
      << "set by the pod, so envFrom cannot set it";
}

TEST(Manifests, WorkersWithoutARendezvousDoNotWaitForRank0) {
  const auto flags_of = [](std::int64_t gpus, const char* rendezvous) {
    auto job = test::make_job("job", gpus);
    job.spec.rendezvous = rendezvous;
    job.status.lease = test::make_lease(job, api::lease_state::kHeld, {"a"}, 3);
    return launcher_flags(Json::parse(make_manifests(job, kOptions).workload)["spec"]["template"]["spec"]);
  };
  const auto does_not_wait = testing::Contains("--master-timeout=0");
  EXPECT_THAT(flags_of(2, api::rendezvous::kNone), does_not_wait);
  EXPECT_THAT(flags_of(2, api::rendezvous::kMasterPort), testing::Not(does_not_wait));
  EXPECT_THAT(flags_of(1, api::rendezvous::kNone), testing::Not(does_not_wait))
      << "there is nobody to wait for";
}

TEST(Manifests, EverythingIsNamedLabelledAndOwned) {
  const auto made = make(2);
  for (const auto& object : {made.service, made.workload}) {
    const auto& metadata = object["metadata"];
    EXPECT_EQ(metadata["name"], "job-3");
    EXPECT_EQ(metadata["namespace"], "ns");
    EXPECT_EQ(metadata["labels"][api::kLease], "uid-job.3");
    EXPECT_EQ(metadata["labels"][api::kJobUidLabel], "uid-job");
    EXPECT_EQ(metadata["ownerReferences"][0]["uid"], "uid-job");
    EXPECT_EQ(metadata["ownerReferences"][0]["controller"], true);
  }
}

TEST(Manifests, PodsCarryOurFinalizerAndNobodyElses) {
  const auto metadata = make(2, 1, kTemplate).workload["spec"]["template"]["metadata"];
  EXPECT_EQ(metadata["finalizers"], Json({api::kWorkerFinalizer}));
  EXPECT_FALSE(metadata.contains("ownerReferences"));
  EXPECT_EQ(metadata["labels"]["team"], "x");
  EXPECT_EQ(metadata["labels"][api::kLease], "uid-job.3");
}

// Tolerates that a node is not ready, without a time limit.
Json outlasting(const std::string& taint) {
  return {{"key", "node.kubernetes.io/" + taint}, {"operator", "Exists"}, {"effect", "NoExecute"}};
}

TEST(Manifests, PodsTolerateExactlyThisLease) {
  EXPECT_EQ(make(1).pod["tolerations"],
            Json::array({kToleration, outlasting("not-ready"), outlasting("unreachable")}));
  EXPECT_EQ(make(1, 1, kTemplate).pod["tolerations"], Json::array({{{"key", "team"}, {"operator", "Exists"}},
                                                                   kToleration,
                                                                   outlasting("not-ready"),
                                                                   outlasting("unreachable")}));
}

TEST(Manifests, EveryTermOfTheAffinityRequiresTheLease) {
  const auto terms = [](const Json& pod) {
    return pod["affinity"]["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]
              ["nodeSelectorTerms"];
  };
  EXPECT_EQ(terms(make(1).pod), Json::array({{{"matchExpressions", Json::array({kRequirement})}}}));
  const auto both = terms(make(1, 1, kTemplate).pod);
  ASSERT_EQ(both.size(), 2U);
  for (const auto& term : both) EXPECT_EQ(term["matchExpressions"].back(), kRequirement);
  EXPECT_EQ(both[0]["matchExpressions"][0]["key"], "disk");
  EXPECT_TRUE(both[1].contains("matchFields"));
}

TEST(Manifests, TheCommandIsWrappedWordByWord) {
  const auto worker = make(1, 1, kTemplate).pod["containers"][0];
  const auto& words = worker["command"];
  const auto end = std::find(words.begin(), words.end(), "--");
  EXPECT_EQ(Json(std::vector<Json>(end, words.end())), Json({"--", "sh", "-c", "echo 'a  b'\necho c", ""}));
  EXPECT_FALSE(worker.contains("args"));
}

TEST(Manifests, TheRestOfTheTemplateStays) {
  const auto pod = make(1, 1, kTemplate).pod;
  EXPECT_EQ(pod["containers"][0]["unknownField"], Json({{"kept", true}}));
  EXPECT_EQ(environment(pod)["MINE"], "1");
  EXPECT_EQ(pod["containers"][1]["command"], Json({"side"}));
  EXPECT_EQ(pod["containers"][1].at("volumeMounts")[0]["mountPath"], "/dev/shm");
  EXPECT_EQ(pod["initContainers"][0]["volumeMounts"].size(), 1U) << "the launcher needs no shared memory";
  ASSERT_EQ(pod["initContainers"].size(), 2U);
  EXPECT_EQ(pod["initContainers"][0]["name"], kLauncherName);
  EXPECT_EQ(pod["initContainers"][0]["image"], "launcher:1");
  EXPECT_EQ(pod["initContainers"][1]["name"], "fetch");
}

Json launcher_of(const std::string& pod_spec) {
  return make(1, 1, R"({"spec":)" + pod_spec + "}").pod["initContainers"][0];
}

TEST(Manifests, TheLaunchersContainerIsRestricted) {
  const auto own = launcher_of(R"({"containers":[{"name":"train","command":["x"]}]})")["securityContext"];
  EXPECT_EQ(own["allowPrivilegeEscalation"], false);
  EXPECT_EQ(own["capabilities"], Json({{"drop", {"ALL"}}}));
  EXPECT_EQ(own["runAsNonRoot"], true);
  EXPECT_EQ(own["seccompProfile"]["type"], "RuntimeDefault");
  EXPECT_FALSE(own.contains("runAsUser")) << "the image's own, or what the namespace's policy gives";
  const auto as_root =
      launcher_of(R"({"securityContext":{"runAsUser":0},"containers":[{"name":"train","command":["x"]}]})");
  EXPECT_EQ(as_root["securityContext"]["runAsUser"], 65532);
}

TEST(Manifests, TheLaunchersContainerAsksForWhatTheWorkerAsks) {
  EXPECT_EQ(launcher_of(R"({"containers":[{"name":"train","command":["x"]}]})")["resources"], Json::object());
  const auto own = launcher_of(R"({"containers":[{"name":"train","command":["x"],"resources":{
    "requests":{"cpu":"2","memory":"1Gi","example.com/fpga":"1"},
    "limits":{"cpu":4,"memory":"2Gi","ephemeral-storage":"1Gi","nvidia.com/gpu":"1"}}}]})")["resources"];
  EXPECT_EQ(own["requests"], Json({{"cpu", "2"}, {"memory", "1Gi"}}));
  EXPECT_EQ(own["limits"], Json({{"cpu", 4}, {"memory", "2Gi"}, {"ephemeral-storage", "1Gi"}}));
}

TEST(Manifests, TheResultFitsIntoTheShareOfItsContainer) {
  const auto bytes = [](int containers, int init) {
    auto list = Json::array({{{"name", "train"}, {"command", {"x"}}}});
    while (static_cast<int>(list.size()) < containers) list.push_back({{"name", "c"}});
    Json spec = {{"containers", list}, {"initContainers", Json::array()}};
    while (static_cast<int>(spec["initContainers"].size()) < init)
      spec["initContainers"].push_back({{"name", "i"}});
    return launcher_flags(make(1, 1, Json({{"spec", spec}}).dump()).pod)[8];
  };
  EXPECT_EQ(bytes(1, 0), "--result-bytes=3072");
  EXPECT_EQ(bytes(2, 1), "--result-bytes=3072") << "four with the launcher's";
  EXPECT_EQ(bytes(5, 2), "--result-bytes=1536") << "eight";
  EXPECT_EQ(bytes(200, 0), "--result-bytes=128");
}

TEST(Manifests, AWorkerPodIsWhatTheWorkloadMakes) {
  auto job = test::make_job("job", 2);
  job.status.lease = test::make_lease(job, api::lease_state::kHeld, {"a"}, 3);
  const auto pod = Json::parse(make_worker_pod(job, kOptions));
  EXPECT_EQ(pod["kind"], "Pod");
  EXPECT_EQ(pod["metadata"]["name"], "job-3-0");
  EXPECT_EQ(pod["spec"], Json::parse(make_manifests(job, kOptions).workload)["spec"]["template"]["spec"]);
}

TEST(Manifests, PodsAreNeverDeletedByForce) {
  EXPECT_EQ(make(1, 1, kTemplate).pod["terminationGracePeriodSeconds"], 1);
}

TEST(Manifests, ThePoolCapsHowLongAWorkerMayTakeToEnd) {
  const auto grace = [](const std::string& said, std::optional<std::int64_t> most) {
    auto job = test::make_job();
    job.status.lease = test::make_lease(job, api::lease_state::kHeld, {"a"});
    job.spec.pod_template.text = R"({"spec":{"containers":[{"name":"train","command":["x"]}])" + said + "}}";
    const auto made = make_manifests(job, {{"launcher:1", "carry:1"}, test::kGpus, most});
    return Json::parse(made.workload)["spec"]["template"]["spec"].value("terminationGracePeriodSeconds", -1);
  };
  const std::string hour = R"(,"terminationGracePeriodSeconds":3600)";
  EXPECT_EQ(grace(hour, std::nullopt), 3600);
  EXPECT_EQ(grace(hour, 60), 60);
  EXPECT_EQ(grace(R"(,"terminationGracePeriodSeconds":5)", 60), 5);
  EXPECT_EQ(grace("", std::nullopt), -1) << "Kubernetes' own default stays";
  EXPECT_EQ(grace("", 60), -1);
  EXPECT_EQ(grace("", 10), 10) << "the default is 30 s";
}

Made make_shared(std::int64_t workers, const std::vector<std::string>& nodes) {
  auto job = test::make_job("job", workers);
  job.status.lease = test::make_lease(job, api::lease_state::kHeld, nodes, 3);
  job.status.lease->slices = 4;
  auto workload = Json::parse(make_manifests(job, {{"launcher:1", "carry:1"}, test::kSlices}).workload);
  auto pod = workload["spec"]["template"]["spec"];
  return {Json(), std::move(workload), std::move(pod)};
}

TEST(Manifests, SharingWorkersAskForTheirSlices) {
  const auto made = make_shared(1, {"a"});
  EXPECT_EQ(made.pod["containers"][0]["resources"]["limits"], Json({{test::kSlices, "4"}}));
  EXPECT_EQ(made.workload["spec"]["template"]["metadata"]["labels"][api::kSlicesLabel], "4");
}

TEST(Manifests, SharingWorkersGoToTheNodesOfTheLease) {
  const auto pod = make_shared(1, {"a", "b"}).pod;
  EXPECT_EQ(
      pod["tolerations"][0],
      Json({{"key", api::kPoolTaint}, {"operator", "Equal"}, {"value", "lab"}, {"effect", "NoSchedule"}}));
  const auto& terms =
      pod["affinity"]["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]["nodeSelectorTerms"];
  EXPECT_EQ(terms[0]["matchExpressions"],
            Json::array({{{"key", api::kMemberLabel}, {"operator", "In"}, {"values", {"uid-a", "uid-b"}}}}));
}

TEST(Manifests, SharingGangsAreSpreadAsReserved) {
  EXPECT_FALSE(make_shared(2, {"a"}).pod.contains("topologySpreadConstraints")) << "one node has them all";
  EXPECT_EQ(make_shared(4, {"a", "b"}).pod["topologySpreadConstraints"],
            Json::array({{{"maxSkew", 1},
                          {"topologyKey", api::kMemberLabel},
                          {"whenUnsatisfiable", "DoNotSchedule"},
                          {"labelSelector", {{"matchLabels", {{api::kLease, "uid-job.3"}}}}}}}));
}

TEST(Manifests, TheWorkerGetsItsGpus) {
  EXPECT_EQ(make(8, 4).pod["containers"][0]["resources"]["limits"][test::kGpus], "4");
}

}  // namespace
}  // namespace gpupool::planning
