// SPDX-License-Identifier: Apache-2.0
#include "planning/workers/data_containers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "api/v1alpha1/names.h"
#include "planning/workers/manifests.h"
#include "tests/unit/planning/builders.h"

namespace gpupool::planning {
namespace {

using Json = nlohmann::json;
using testing::Contains;
using testing::Not;

constexpr char kSource[] = R"x({"items":[
  {"path":"data","s3":{"bucket":"abc","prefix":"p"},"secret":"reader"},
  {"path":"a.py","configMap":{"name":"scripts","key":"a"}},
  {"path":"ro.csv","http":{"url":"https://x/$(y)"},"secret":"reader","readOnly":true},
  {"path":"clean.csv","csv":{"from":"ro.csv"}}]})x";
constexpr char kResults[] = R"x([
  {"from":"/gpupool/work/out","to":{"s3":{"bucket":"abc","prefix":"$(job)"}},"secret":"writer"},
  {"from":"/gpupool/work/log","to":{"volume":{"claimName":"models"}}}])x";

Json pod_with(std::int64_t gpus, const std::string& source, const std::string& results) {
  auto job = test::make_job("job", gpus);
  job.spec.pod_template.text =
      R"({"spec":{"terminationGracePeriodSeconds":90,"securityContext":{"runAsUser":0},"containers":[
      {"name":"train","image":"i","command":["x"],"resources":{"limits":{"memory":"1Gi"}},
       "env":[{"name":"HTTPS_PROXY","value":"http://p"},{"name":"KEY","value":"secret"}]},
      {"name":"side","image":"i"}],"initContainers":[{"name":"mine"}]}})";
  if (!source.empty()) job.spec.source = base::json::RawJson{source};
  if (!results.empty()) job.spec.results = base::json::RawJson{results};
  job.status.lease = test::make_lease(job, api::lease_state::kHeld, {"a"}, 3);
  const auto made = make_manifests(job, {{"launcher:1", "carry:1"}, test::kGpus});
  return Json::parse(made.workload)["spec"]["template"]["spec"];
}

std::vector<std::string> names_of(const Json& list) {
  std::vector<std::string> names;
  for (const auto& one : list) names.push_back(one["name"]);
  return names;
}

const Json& named(const Json& list, const std::string& name) {
  static const Json none;
  const auto found = std::ranges::find_if(list, [&](const Json& one) { return one["name"] == name; });
  return found == list.end() ? none : *found;
}

bool mounts(const Json& container, const std::string& path) {
  return std::ranges::any_of(container["volumeMounts"],
                             [&](const Json& mount) { return mount["mountPath"] == path; });
}

TEST(DataContainers, NothingIsAddedForAJobWithoutData) {
  const auto pod = pod_with(1, "", "");
  EXPECT_THAT(names_of(pod["initContainers"]), testing::ElementsAre("gpupool-launcher", "mine"));
  EXPECT_THAT(names_of(pod["containers"]), testing::ElementsAre("train", "side"));
  EXPECT_THAT(names_of(pod["volumes"]), Not(Contains(kWorkVolume)));
}

TEST(DataContainers, TheSourceIsFetchedAfterTheLauncherAndBeforeTheUsersInitContainers) {
  const auto pod = pod_with(1, kSource, "");
  EXPECT_THAT(names_of(pod["initContainers"]),
              testing::ElementsAre("gpupool-launcher", kSourceContainer, "mine"));
  const auto& source = pod["initContainers"][1];
  EXPECT_EQ(source["image"], "carry:1");
  EXPECT_EQ(source["resources"]["limits"]["memory"], "1Gi") << "what admits the worker admits it";
  EXPECT_EQ(source["securityContext"]["runAsUser"], 65532);
  EXPECT_EQ(source["securityContext"]["readOnlyRootFilesystem"], true);
  EXPECT_THAT(names_of(source["env"]), testing::ElementsAre("HTTPS_PROXY"));
  EXPECT_THAT(source["command"].dump(), testing::HasSubstr("https://x/$$(y)"))
      << "the kubelet expands $(NAME)";
}

TEST(DataContainers, SecretsAreMountedOnlyInTheContainersOfGpupool) {
  const auto pod = pod_with(2, kSource, kResults);
  const auto& source = named(pod["initContainers"], kSourceContainer);
  const auto& results = named(pod["containers"], kResultsContainer);
  EXPECT_TRUE(mounts(source, "/secrets/reader"));
  EXPECT_FALSE(mounts(source, "/secrets/writer"));
  EXPECT_TRUE(mounts(source, "/config-maps/scripts"));
  EXPECT_TRUE(mounts(results, "/secrets/writer"));
  EXPECT_FALSE(mounts(results, "/secrets/reader"));
  EXPECT_TRUE(mounts(results, "/claims/models"));
  for (const auto* list : {"containers", "initContainers"}) {
    for (const auto& container : pod[list]) {
      if (container["name"] == kSourceContainer || container["name"] == kResultsContainer) continue;
      for (const auto& mount : container.value("volumeMounts", Json::array()))
        EXPECT_THAT(mount["name"].get<std::string>(), Not(testing::StartsWith("gpupool-secret")))
            << container;
    }
  }
}

TEST(DataContainers, TheWorkerGetsReadOnlyItemsAsReadOnlyMounts) {
  const auto pod = pod_with(1, kSource, "");
  const auto& worker = pod["containers"][0];
  EXPECT_EQ(named(worker["env"], "GPUPOOL_WORK_DIR")["value"], "/gpupool/work");
  EXPECT_THAT(worker["volumeMounts"], Contains(Json{{"name", kWorkVolume}, {"mountPath", "/gpupool/work"}}));
  for (const std::string path : {"ro.csv", "clean.csv"}) {
    EXPECT_THAT(worker["volumeMounts"], Contains(Json{{"name", kWorkVolume},
                                                      {"mountPath", "/gpupool/work/" + path},
                                                      {"subPath", path},
                                                      {"readOnly", true}}));
  }
  EXPECT_FALSE(mounts(worker, "/gpupool/work/data"));
}

TEST(DataContainers, ResultsHaveTheGraceOfThePodAndTheRank) {
  const auto command = [](std::int64_t gpus) {
    return named(pod_with(gpus, "", kResults)["containers"], kResultsContainer)["command"].dump();
  };
  EXPECT_THAT(command(1), testing::HasSubstr("--grace-seconds=90"));
  EXPECT_THAT(command(1), testing::HasSubstr("--rank=0"));
  EXPECT_THAT(command(1), Not(testing::HasSubstr("--hold")));
  EXPECT_THAT(command(2), testing::HasSubstr("--pod-name=$(GPUPOOL_POD_NAME)"));
  EXPECT_THAT(command(2), testing::HasSubstr("--hold"));
  EXPECT_THAT(command(2), testing::HasSubstr("$$(job)"));
}

// A kubelet never mounts the second volume of a pod with the same claim.
TEST(DataContainers, AClaimThatThePodHasAlreadyGetsNoSecondVolume) {
  auto job = test::make_job();
  job.spec.pod_template.text =
      R"({"spec":{"containers":[{"name":"train","command":["x"]}],"volumes":[
      {"name":"mine","persistentVolumeClaim":{"claimName":"models"}}]}})";
  job.spec.results = base::json::RawJson{kResults};
  job.status.lease = test::make_lease(job, api::lease_state::kHeld, {"a"}, 3);
  const auto made = Json::parse(make_manifests(job, {{"launcher:1", "carry:1"}, test::kGpus}).workload);
  const auto& pod = made["spec"]["template"]["spec"];
  EXPECT_THAT(names_of(pod["volumes"]), Not(Contains("gpupool-claim-0")));
  EXPECT_THAT(named(pod["containers"], kResultsContainer)["volumeMounts"],
              Contains(Json{{"name", "mine"}, {"mountPath", "/claims/models"}}));
}

// A kubelet keeps 12 KiB of termination messages for all containers of a pod.
TEST(DataContainers, AllReportsFitIntoThePod) {
  const auto pod = pod_with(1, kSource, kResults);
  const auto containers = pod["containers"].size() + pod["initContainers"].size();
  const auto flag = [](const Json& command, const std::string& name) {
    for (const auto& part : command) {
      const auto word = part.get<std::string>();
      if (word.starts_with(name)) return std::stoul(word.substr(name.size()));
    }
    return 0UL;
  };
  const auto bytes = flag(pod["containers"][0]["command"], "--result-bytes=");
  EXPECT_EQ(containers, 6U);
  EXPECT_EQ(bytes, 12'288U / containers);
  EXPECT_EQ(flag(pod["initContainers"][1]["command"], "--report-bytes="), bytes);
}

}  // namespace
}  // namespace gpupool::planning
