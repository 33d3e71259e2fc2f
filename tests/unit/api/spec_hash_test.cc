// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <functional>

#include "api/v1alpha1/gpu_job.h"

namespace gpupool::api {
namespace {

using Change = std::function<void(GpuJobSpec&)>;

GpuJobSpec make_spec() {
  GpuJobSpec spec;
  spec.pool = "lab";
  spec.gpus = 4;
  spec.gpus_per_worker = 2;
  spec.nodes = {"a", "b"};
  spec.pod_template.text = R"({"spec":{}})";
  return spec;
}

std::string hash_with(const Change& change) {
  auto spec = make_spec();
  change(spec);
  return spec_hash(spec);
}

TEST(SpecHash, ChangesWithEachIdentityField) {
  const std::vector<Change> changes = {
      [](auto& spec) { spec.pool = "lab2"; },
      [](auto& spec) { spec.gpus = 8; },
      [](auto& spec) { spec.gpus_per_worker = 4; },
      [](auto& spec) { spec.nodes = {"a"}; },
      [](auto& spec) { spec.nodes = {"ab"}; },
      [](auto& spec) { spec.nodes = {"b", "a"}; },
      [](auto& spec) { spec.nodes.clear(); },
      [](auto& spec) { spec.pod_template.text = R"({"spec":{"x":1}})"; },
      [](auto& spec) { spec.slice = JobSlice{"4Gi", {}, {}}; },
      [](auto& spec) { spec.slice = JobSlice{"4Gi", 30, {}}; },
      [](auto& spec) { spec.slice = JobSlice{"", {}, 30}; },
      [](auto& spec) { spec.rendezvous = rendezvous::kNone; },
      [](auto& spec) { spec.checkpoint.emplace(); },
      [](auto& spec) { spec.checkpoint.emplace().path = "/ckpt"; },
      [](auto& spec) { spec.checkpoint.emplace().claim_name = "/ckpt"; },
      [](auto& spec) { spec.checkpoint.emplace().notice = checkpoint_notice::kFile; },
      [](auto& spec) { spec.checkpoint.emplace().grace_seconds = 60; },
  };
  std::vector<std::string> seen = {spec_hash(make_spec())};
  for (const auto& change : changes) {
    const auto hash = hash_with(change);
    EXPECT_EQ(std::count(seen.begin(), seen.end(), hash), 0);
    seen.push_back(hash);
  }
}

TEST(SpecHash, IgnoresWhatMayChangeUnderALease) {
  const std::vector<Change> changes = {
      [](auto& spec) { spec.priority = 5; },
      [](auto& spec) { spec.backoff_limit = 9; },
      [](auto& spec) { spec.active_deadline_seconds = 9; },
      [](auto& spec) { spec.start_timeout_seconds = 9; },
      [](auto& spec) { spec.ttl_seconds_after_finished = 9; },
      [](auto& spec) { spec.suspend = true; },
      [](auto& spec) { spec.rendezvous = rendezvous::kMasterPort; },  // the same as absent
      [](auto& spec) { spec.backup_nodes = {{"c"}}; },
  };
  for (const auto& change : changes) EXPECT_EQ(hash_with(change), spec_hash(make_spec()));
}

TEST(SpecHash, IgnoresWhatAWorkerDoesNotSeeOfCheckpoints) {
  const auto same = hash_with([](auto& spec) { spec.checkpoint.emplace(); });
  const std::vector<Change> changes = {
      [](auto& spec) { spec.checkpoint.emplace().interval_seconds = 900; },
      [](auto& spec) { spec.checkpoint.emplace().path = kDefaultCheckpointPath; },
      [](auto& spec) { spec.checkpoint.emplace().notice = checkpoint_notice::kSignal; },
  };
  for (const auto& change : changes) EXPECT_EQ(hash_with(change), same);
}

TEST(SpecHash, IsSixteenHexDigits) {
  const auto hash = spec_hash(make_spec());
  EXPECT_EQ(hash.size(), 16U);
  EXPECT_EQ(hash.find_first_not_of("0123456789abcdef"), std::string::npos);
}

// The hash is stored in leases: if it changed with an upgrade, every job would be queued again.
TEST(SpecHash, StaysWhatItWas) {
  GpuJobSpec spec;
  spec.pool = "lab";
  spec.pod_template.text = "{}";
  EXPECT_EQ(spec_hash(spec), "b477b76b671ffd9f");
}

TEST(WorkerCount, IsOneWhileTheGpusFitIntoAWorker) {
  GpuJobSpec spec;
  spec.gpus = 2;
  spec.gpus_per_worker = 8;
  EXPECT_EQ(worker_count(spec), 1);
  EXPECT_EQ(gpus_of_each_worker(spec), 2);
  spec.gpus = 16;
  EXPECT_EQ(worker_count(spec), 2);
  EXPECT_EQ(gpus_of_each_worker(spec), 8);
}

}  // namespace
}  // namespace gpupool::api
