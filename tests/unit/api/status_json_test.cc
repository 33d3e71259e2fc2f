// SPDX-License-Identifier: Apache-2.0
#include "api/v1alpha1/status_json.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace gpupool::api {
namespace {

using Json = nlohmann::json;

base::WallTime at(int seconds) { return base::WallTime(std::chrono::seconds(1'800'000'000 + seconds)); }

GpuJobStatus full_status() {
  GpuJobStatus status;
  status.observed_generation = 7;
  status.phase = phase::kRunning;
  status.conditions = {{"Running", "True", 7, at(1), "WorkersRunning", "all run"},
                       {"Stalled", "False", 7, at(2), "NotStalled", ""}};
  status.lease = Lease{"uid.3",
                       lease_state::kReleasing,
                       2,
                       "00ff",
                       4,
                       {{"a", "uid-a", 2}, {"b", "uid-b", 1}},
                       {{"c", "uid-c", "uid.2"}},
                       "uid-workload",
                       outcome::kQueued,
                       at(3),
                       at(6),
                       sharing_unit::kGpu};
  status.lease_sequence = 3;
  status.workers = {2, 1, 1};
  status.attempts = 3;
  status.failures = 1;
  status.unexplained_losses = 2;
  status.start_time = at(4);
  status.completion_time = at(5);
  status.reason = "WorkersRunning";
  status.message = "line one\nline \"two\"";
  status.node_names = "a,b";
  status.master = "job-3-0.job-3";
  return status;
}

ObjectMeta metadata() {
  ObjectMeta metadata;
  metadata.name = "job";
  metadata.ns = "ns";
  metadata.uid = "uid";
  metadata.resource_version = "5";
  return metadata;
}

template <class Status>
Json update_of(const Status& status) {
  return Json::parse(status_update(metadata(), status));
}

GpuJobStatus read_back(const Json& object) {
  const auto job = base::json::read<GpuJob>(object.dump());
  EXPECT_TRUE(job.has_value());
  return job ? job->status : GpuJobStatus{};
}

bool has_empty_in_list(const Json& value, bool in_list = false) {
  if (value.is_array() || value.is_object()) {
    for (const auto& part : value) {
      if (has_empty_in_list(part, in_list || value.is_array())) return true;
    }
    return false;
  }
  return in_list && (value.is_null() || value == "");
}

TEST(JobStatusUpdate, IsReadBackAsTheSameStatus) {
  EXPECT_EQ(read_back(update_of(full_status())), full_status());
  EXPECT_EQ(read_back(update_of(GpuJobStatus{})), GpuJobStatus{});
}

TEST(JobStatusUpdate, SaysWhichVersionOfWhichObjectItReplaces) {
  const auto update = update_of(full_status());
  EXPECT_EQ(update["apiVersion"], "gpupool.dev/v1alpha1");
  EXPECT_EQ(update["kind"], "GpuJob");
  EXPECT_EQ(update["metadata"],
            Json({{"name", "job"}, {"namespace", "ns"}, {"uid", "uid"}, {"resourceVersion", "5"}}));
}

TEST(JobStatusUpdate, HasNoFieldsWithoutAValue) {
  const auto update = update_of(GpuJobStatus{});
  for (const char* field :
       {"lease", "startTime", "completionTime", "reason", "message", "nodeNames", "master"}) {
    EXPECT_FALSE(update["status"].contains(field)) << field;
  }
  auto status = full_status();
  status.lease->lost.clear();
  status.lease->outcome = "";
  EXPECT_FALSE(update_of(status)["status"]["lease"].contains("lost"));
  EXPECT_FALSE(update_of(status)["status"]["lease"].contains("outcome"));
  EXPECT_EQ(read_back(update_of(status)), status);
}

// Kubernetes 1.20 refuses an empty string inside a list, because it reads it as null.
TEST(JobStatusUpdate, HasNoEmptyStringsOrNullsInLists) {
  EXPECT_FALSE(has_empty_in_list(update_of(full_status())));
}

TEST(JobStatusUpdate, SurvivesBytesThatAreNotText) {
  auto status = full_status();
  status.message = "\xff\xfe end";
  EXPECT_NE(update_of(status)["status"]["message"].get<std::string>().find(" end"), std::string::npos);
}

GpuPoolStatus full_pool_status() {
  GpuPoolStatus status;
  status.observed_generation = 2;
  status.conditions = {{"Ready", "True", 2, at(1), "MembersCounted", "3 nodes"}};
  status.nodes = {6, 5, 1, 1, 2, 3, 1};
  status.gpus = {12, 4, 8, {{"A", 8, "16Gi"}, {"B", 4, "24Gi"}}};
  status.slices = PoolSliceCounts{40, 13};
  status.jobs = {3, 2};
  status.excluded = {{"n", "GPU memory is below 16Gi"}};
  status.draining = {{"a", "ns/job", at(3), ""}, {"b", "", std::nullopt, "what is wrong"}};
  return status;
}

TEST(PoolStatusUpdate, IsReadBackAsTheSameStatus) {
  const auto read = [](const Json& object) { return base::json::read<GpuPool>(object.dump())->status; };
  EXPECT_EQ(read(update_of(full_pool_status())), full_pool_status());
  EXPECT_EQ(read(update_of(GpuPoolStatus{})), GpuPoolStatus{});
}

TEST(PoolStatusUpdate, HasNoEmptyStringsOrNullsInLists) {
  auto status = full_pool_status();
  status.gpus.models.push_back({"unknown", 2, ""});
  EXPECT_FALSE(has_empty_in_list(update_of(status)));
}

}  // namespace
}  // namespace gpupool::api
