// SPDX-License-Identifier: Apache-2.0
#include "planning/job/checkpoint_validation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "api/v1alpha1/reasons.h"
#include "planning/job/job_validation.h"
#include "tests/unit/planning/builders.h"

namespace gpupool::planning {
namespace {

using testing::HasSubstr;

using ChangeOfCheckpoint = std::function<void(api::JobCheckpoint&)>;

std::string checkpoint_problem(const ChangeOfCheckpoint& change, const std::string& container = "",
                               const std::string& pod = "") {
  auto job = test::with_template(test::make_job("job", 4), pod, container);
  change(job.spec.checkpoint.emplace());
  const auto problem = validate_job(job, nullptr);
  return problem ? problem->message : "";
}

std::string path_problem(const std::string& path) {
  return checkpoint_problem([&](auto& checkpoint) { checkpoint.path = path; });
}

std::string claim_problem(const std::string& container, const std::string& pod = "") {
  return checkpoint_problem([](auto& checkpoint) { checkpoint.claim_name = "ckpt"; }, container, pod);
}

TEST(CheckpointValidation, TakesWhatIsRight) {
  EXPECT_EQ(checkpoint_problem([](auto&) {}), "") << "all is optional";
  EXPECT_EQ(checkpoint_problem([](auto& checkpoint) {
              checkpoint = {"/data/job ckpt", "team.checkpoints-1", 900, api::checkpoint_notice::kFile, 120};
            }),
            "");
  for (const char* path :
       {"/c", "/checkpoints/", "/gpupools/c", "/a/gpupool", "/developer/.hidden/..x", "/a$(b)"})
    EXPECT_EQ(path_problem(path), "") << path;
  for (const char* notice : {"", "Signal", "File"})
    EXPECT_EQ(checkpoint_problem([&](auto& checkpoint) { checkpoint.notice = notice; }), "") << notice;
  for (const std::int64_t seconds : {1, 86400}) {
    EXPECT_EQ(checkpoint_problem([&](auto& checkpoint) {
                checkpoint.grace_seconds = seconds;
                checkpoint.interval_seconds = seconds;
              }),
              "");
  }
}

struct InvalidCheckpoint {
  const char* what;
  const char* message;  // a part of it
  ChangeOfCheckpoint change;
};

TEST(CheckpointValidation, NamesTheFieldThatIsWrong) {
  const InvalidCheckpoint table[] = {
      {"notice", "notice must be Signal or File", [](auto& c) { c.notice = "file"; }},
      {"no grace", "graceSeconds must be from 1 to 86400", [](auto& c) { c.grace_seconds = 0; }},
      {"grace of weeks", "graceSeconds must be from 1", [](auto& c) { c.grace_seconds = 86'401; }},
      {"no interval", "intervalSeconds must be from 1", [](auto& c) { c.interval_seconds = 0; }},
      {"interval of years", "intervalSeconds must be from 1",
       [](auto& c) { c.interval_seconds = 2'592'001; }},
      {"claim in capitals", "claimName must be the name", [](auto& c) { c.claim_name = "Team"; }},
      {"claim with a slash", "claimName must be the name", [](auto& c) { c.claim_name = "a/b"; }},
      {"long claim", "claimName must be the name", [](auto& c) { c.claim_name = std::string(254, 'a'); }},
  };
  for (const auto& row : table)
    EXPECT_THAT(checkpoint_problem(row.change), HasSubstr(std::string("spec.checkpoint.") + row.message))
        << row.what;
}

TEST(CheckpointValidation, ThePathIsADirectoryOfItsOwn) {
  const std::pair<std::string, const char*> table[] = {
      {"checkpoints", "must be absolute"},
      {"./checkpoints", "must be absolute"},
      {"/", "must not be the root directory"},
      {"///", "must not be the root directory"},
      {"/a/../gpupool", "must not have an empty part, . or .."},
      {"/a/..", "must not have an empty part, . or .."},
      {"/a/./b", "must not have an empty part, . or .."},
      {"//gpupool", "must not have an empty part, . or .."},
      {"/gpupool", "must not be in /gpupool"},
      {"/gpupool/", "must not be in /gpupool"},
      {"/gpupool/work/c", "must not be in /gpupool"},
      {"/dev/shm", "must not be in /dev, /proc or /sys"},
      {"/proc", "must not be in /dev, /proc or /sys"},
      {"/a:b", "must not have a control character or a colon"},
      {"/a\nb", "must not have a control character or a colon"},
      {"/" + std::string(256, 'a'), "must not have a part of more than 255 bytes"},
  };
  for (const auto& [path, message] : table)
    EXPECT_THAT(path_problem(path), HasSubstr(std::string("spec.checkpoint.path ") + message)) << path;
}

TEST(CheckpointValidation, TheClaimHasItsPlaceForItself) {
  const auto mounted = [](const std::string& name, const std::string& path) {
    return R"("volumeMounts":[{"name":")" + name + R"(","mountPath":")" + path + R"("}])";
  };
  EXPECT_EQ(claim_problem(mounted("data", "/data")), "");
  EXPECT_EQ(claim_problem(mounted("cache", "/checkpoints/cache")), "");
  for (const char* path : {"/checkpoints", "/checkpoints/"})
    EXPECT_THAT(claim_problem(mounted("data", path)), HasSubstr("volumeMounts: data is mounted at")) << path;
  EXPECT_THAT(claim_problem("", R"("volumes":[{"name":"gpupool-checkpoint"}])"),
              HasSubstr("belongs to gpupool"));
  EXPECT_THAT(claim_problem(mounted("gpupool-checkpoint", "/x")), HasSubstr("belongs to gpupool"));
  EXPECT_THAT(
      claim_problem("", R"("initContainers":[{"name":"i",)" + mounted("gpupool-checkpoint", "/x") + "}]"),
      HasSubstr("belongs to gpupool"));
  // Without a claim these are the user's.
  EXPECT_EQ(checkpoint_problem([](auto&) {}, mounted("data", "/checkpoints"),
                               R"("volumes":[{"name":"gpupool-checkpoint"}])"),
            "");
}

TEST(CheckpointValidation, WithoutItTheTemplateMayHaveTheNames) {
  const auto job = test::with_template(test::make_job(), R"("volumes":[{"name":"gpupool-checkpoint"}])",
                                       R"("volumeMounts":[{"name":"gpupool-checkpoint","mountPath":"/c"}])");
  EXPECT_EQ(validate_job(job, nullptr), std::nullopt);
}

std::string backup_problem(const std::function<void(api::GpuJobSpec&)>& change,
                           const api::GpuPool* pool = nullptr) {
  auto job = test::make_job("job", 2);
  job.spec.nodes = {"a", "b"};
  job.spec.backup_nodes = {{"c", "d"}};
  change(job.spec);
  const auto problem = validate_job(job, pool);
  return problem ? problem->message : "";
}

TEST(BackupNodes, AreOtherNodesThanThoseOfTheJob) {
  EXPECT_EQ(backup_problem([](auto&) {}), "");
  const auto whole = test::make_pool();
  EXPECT_EQ(backup_problem([](auto&) {}, &whole), "");
  const auto none = [](auto& spec) {
    spec.backup_nodes = {{}};
    spec.nodes.clear();
  };
  EXPECT_EQ(backup_problem(none), "");
  EXPECT_THAT(backup_problem([](auto& spec) { spec.nodes.clear(); }), HasSubstr("together with spec.nodes"));
  EXPECT_THAT(backup_problem([](auto& spec) { spec.backup_nodes = {{"c", "d", "c"}}; }),
              HasSubstr("names c twice"));
  EXPECT_THAT(backup_problem([](auto& spec) { spec.backup_nodes = {{"c", "b"}}; }),
              HasSubstr("b is in spec.nodes"));
  EXPECT_THAT(backup_problem([](auto& spec) { spec.backup_nodes = {{""}}; }), HasSubstr("empty name"));
  EXPECT_THAT(backup_problem([](auto& spec) { spec.node_replacement = api::node_replacement::kNever; }),
              HasSubstr("spec.nodeReplacement Never"));
  EXPECT_THAT(backup_problem([](auto& spec) { spec.backup_nodes = std::vector<std::string>(1001, "c"); }),
              HasSubstr("at most 1000 nodes"));
  const auto shared = test::make_sharing_pool();
  EXPECT_THAT(backup_problem([](auto&) {}, &shared),
              HasSubstr("spec.backupNodes is for pools that lease whole nodes"));
}

}  // namespace
}  // namespace gpupool::planning
