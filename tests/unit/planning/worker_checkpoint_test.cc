// SPDX-License-Identifier: Apache-2.0
#include "planning/workers/worker_checkpoint.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "planning/workers/grace_period.h"
#include "planning/workers/manifests.h"
#include "tests/unit/planning/builders.h"

namespace gpupool::planning {
namespace {

using Json = nlohmann::json;
using testing::Contains;
using testing::Not;

// The spec of a worker's pod.
struct CheckpointCase {
  api::JobCheckpoint checkpoint = {};
  std::int64_t attempt = 0;
  std::string pod = "";        // more of the template's spec
  std::string container = "";  // more of the worker
  std::optional<std::int64_t> max_grace = std::nullopt;

  api::GpuJob job() const {
    auto job = test::with_template(test::make_job("train"), pod, container);
    job.metadata.uid = "0123456789ab-cdef";
    job.spec.checkpoint = checkpoint;
    job.status.lease = test::make_lease(job, api::lease_state::kHeld, {"a"}, 3);
    job.status.lease->attempt = attempt;
    return job;
  }
  static Json pod_of(const api::GpuJob& job, std::optional<std::int64_t> most) {
    const auto made = make_manifests(job, {{"launcher:1", "carry:1"}, test::kGpus, most});
    return Json::parse(made.workload)["spec"]["template"]["spec"];
  }
  Json make() const { return pod_of(job(), max_grace); }
};

std::map<std::string, std::string> variables_of(const Json& pod) {
  std::map<std::string, std::string> values;
  for (const auto& entry : pod["containers"][0]["env"]) values[entry["name"]] = entry.value("value", "");
  return values;
}

Json command_of(const Json& pod) { return pod["containers"][0]["command"]; }

// Entries of a list with this value of a field.
Json those(const Json& list, const char* field, const std::string& value) {
  auto found = Json::array();
  std::ranges::copy_if(list, std::back_inserter(found),
                       [&](const Json& one) { return one.value(field, Json()) == value; });
  return found;
}

TEST(WorkerCheckpoint, TellsTheLauncherWhatItNeeds) {
  const auto pod = CheckpointCase{}.make();
  for (const char* flag :
       {"--checkpoint-dir=/checkpoints", "--notice=signal", "--grace-seconds=30", "--resume=0"})
    EXPECT_THAT(command_of(pod), Contains(flag));
  EXPECT_EQ(variables_of(pod)["GPUPOOL_CHECKPOINT_DIR"], "/checkpoints");
  EXPECT_EQ(variables_of(pod)["GPUPOOL_RESUME"], "0");
  EXPECT_FALSE(pod.contains("terminationGracePeriodSeconds"));
  EXPECT_EQ(those(pod["volumes"], "name", kCheckpointVolume), Json::array()) << "the template mounts it";
}

TEST(WorkerCheckpoint, ALaterAttemptResumes) {
  const auto pod = CheckpointCase{.attempt = 1}.make();
  EXPECT_THAT(command_of(pod), Contains("--resume=1"));
  EXPECT_EQ(variables_of(pod)["GPUPOOL_RESUME"], "1");
}

TEST(WorkerCheckpoint, ThePathIsNotExpandedByTheKubelet) {
  const auto pod =
      CheckpointCase{.checkpoint = {"/a/$(HOME)", "team", {}, api::checkpoint_notice::kFile, 120}}.make();
  EXPECT_THAT(command_of(pod), Contains("--checkpoint-dir=/a/$$(HOME)"));
  EXPECT_EQ(variables_of(pod)["GPUPOOL_CHECKPOINT_DIR"], "/a/$$(HOME)");
  EXPECT_EQ(those(pod["containers"][0]["volumeMounts"], "name", kCheckpointVolume)[0]["mountPath"],
            "/a/$(HOME)");
  EXPECT_THAT(command_of(pod), Contains("--notice=file"));
}

TEST(WorkerCheckpoint, TheClaimIsMountedWithAFolderOfTheJobsOwn) {
  const CheckpointCase made{.checkpoint = {"/ckpt", "team", {}, {}, {}}};
  const auto pod = made.make();
  EXPECT_EQ(
      those(pod["volumes"], "name", kCheckpointVolume),
      Json::array({{{"name", "gpupool-checkpoint"}, {"persistentVolumeClaim", {{"claimName", "team"}}}}}));
  EXPECT_EQ(
      those(pod["containers"][0]["volumeMounts"], "mountPath", "/ckpt"),
      Json::array({{{"name", "gpupool-checkpoint"}, {"mountPath", "/ckpt"}, {"subPath", "train-01234567"}}}));
  const auto gang = [&] {
    auto job = made.job();
    job.spec.gpus = 2;
    return CheckpointCase::pod_of(job, {});
  }();
  EXPECT_EQ(those(gang["containers"][0]["volumeMounts"], "mountPath", "/ckpt")[0]["subPath"],
            "train-01234567");
}

TEST(WorkerCheckpoint, AClaimIsOneVolumeOfAPod) {
  CheckpointCase made{.checkpoint = {"/ckpt", "team", {}, {}, {}},
                      .pod = R"("volumes":[{"name":"data","persistentVolumeClaim":{"claimName":"team"}}])"};
  auto pod = made.make();
  EXPECT_EQ(those(pod["volumes"], "name", kCheckpointVolume), Json::array());
  EXPECT_EQ(those(pod["containers"][0]["volumeMounts"], "mountPath", "/ckpt")[0]["name"], "data");
  made.pod.clear();
  auto job = made.job();
  job.spec.results =
      base::json::RawJson{R"([{"from":"/gpupool/work/x","to":{"volume":{"claimName":"team"}}}])"};
  pod = CheckpointCase::pod_of(job, {});
  const auto of_claim = std::ranges::count_if(
      pod["volumes"], [](const Json& volume) { return volume.contains("persistentVolumeClaim"); });
  EXPECT_EQ(of_claim, 1);
  EXPECT_EQ(those(pod["containers"][1]["volumeMounts"], "name", kCheckpointVolume).size(), 1U);
}

struct GraceCase {
  std::optional<std::int64_t> of_checkpoint;
  std::string of_template;
  std::optional<std::int64_t> most;
  std::int64_t seconds;
  bool written;  // in the pod
};

TEST(WorkerCheckpoint, TheGraceIsThatOfThePod) {
  const GraceCase table[] = {
      {{}, "", {}, 30, false},    {120, "", {}, 120, true},  {120, "600", {}, 120, true},
      {120, "600", 60, 60, true}, {{}, "600", 60, 60, true}, {{}, "90", 600, 90, true},
      {5, "0", {}, 5, true},      {{}, "0", {}, 1, true},    {{}, "", 10, 10, true},
      {1, "600", 600, 1, true},
  };
  for (const auto& row : table) {
    const auto pod =
        CheckpointCase{
            .checkpoint = {"", "", {}, {}, row.of_checkpoint},
            .pod = row.of_template.empty() ? "" : "\"terminationGracePeriodSeconds\":" + row.of_template,
            .max_grace = row.most}
            .make();
    const auto flag = "--grace-seconds=" + std::to_string(row.seconds);
    EXPECT_THAT(command_of(pod), Contains(flag));
    EXPECT_EQ(pod.value("terminationGracePeriodSeconds", std::int64_t{-1}), row.written ? row.seconds : -1)
        << flag;
  }
}

TEST(WorkerCheckpoint, ResultsHaveTheSameGrace) {
  auto job = CheckpointCase{.checkpoint = {"", "", {}, {}, 120}}.job();
  job.spec.results = base::json::RawJson{R"([{"from":"/gpupool/work/x","to":{"volume":{"claimName":"c"}}}])"};
  EXPECT_THAT(CheckpointCase::pod_of(job, {})["containers"][1]["command"], Contains("--grace-seconds=120"));
}

TEST(WorkerCheckpoint, WithoutItNothingIsThere) {
  auto job = CheckpointCase{.attempt = 3}.job();
  job.spec.checkpoint.reset();
  const auto text = make_manifests(job, {{"launcher:1", "carry:1"}, test::kGpus}).workload;
  for (const char* trace : {"checkpoint", "CHECKPOINT", "RESUME", "--notice", "--grace", "--resume"})
    EXPECT_THAT(text, Not(testing::HasSubstr(trace)));
}

}  // namespace
}  // namespace gpupool::planning
