// SPDX-License-Identifier: Apache-2.0
#include "planning/workers/worker_identity.h"

#include <gtest/gtest.h>

#include "api/v1alpha1/names.h"
#include "tests/unit/planning/builders.h"

namespace gpupool::planning {
namespace {

// A job in its second lease, whose pods are created by "uid-ours"; one of its pods, and the pod's controller.
struct ClaimedPod {
  ClaimedPod() {
    job.status.lease = test::make_lease(job, api::lease_state::kRunning, {"a"}, 2);
    pod.metadata.labels = {{api::kLease, "uid-job.2"}, {api::kJobUidLabel, "uid-job"}};
    pod.metadata.owner_references = {{"Job", "job-2", "uid-ours", true}};
    maker = api::ObjectMeta();
    maker->name = "job-2";
    maker->ns = "ns";
    maker->uid = "uid-ours";
    maker->owner_references = {{"GpuJob", "job", "uid-job", true}};
  }
  bool believed() const { return is_worker(pod, job, maker ? &*maker : nullptr); }

  api::GpuJob job = test::make_job();
  api::Pod pod = test::make_pod();
  std::optional<api::ObjectMeta> maker;
};

struct Row {
  const char* what;
  bool believed;
  std::function<void(ClaimedPod& claim)> change;
};

TEST(IsWorker, ByNamespaceAndByTheUidsOfWhatTheJobControls) {
  const Row table[] = {
      {"the job's own", true, [](ClaimedPod&) {}},
      {"by a StatefulSet", true,
       [](ClaimedPod& c) { c.pod.metadata.owner_references[0].kind = "StatefulSet"; }},
      {"of a maker that is gone", true, [](ClaimedPod& c) { c.maker.reset(); }},
      {"made by whom the status names", true,
       [](ClaimedPod& c) { c.job.status.lease->workload = "uid-ours"; }},
      {"in another namespace", false, [](ClaimedPod& c) { c.pod.metadata.ns = "theirs"; }},
      {"in another namespace, with a maker like it", false,
       [](ClaimedPod& c) { c.pod.metadata.ns = c.maker->ns = "theirs"; }},
      {"bare", false, [](ClaimedPod& c) { c.pod.metadata.owner_references.clear(); }},
      {"with an owner that does not control it", false,
       [](ClaimedPod& c) { c.pod.metadata.owner_references[0].controller = false; }},
      {"a mirror pod", false,
       [](ClaimedPod& c) { c.pod.metadata.owner_references = {{"Node", "a", "uid-a", true}}; }},
      {"with another job's UID", false,
       [](ClaimedPod& c) { c.pod.metadata.labels[api::kJobUidLabel] = "uid-x"; }},
      {"by a Job that nobody controls", false, [](ClaimedPod& c) { c.maker->owner_references.clear(); }},
      {"by a Job that another GpuJob controls", false,
       [](ClaimedPod& c) { c.maker->owner_references[0].uid = "uid-x"; }},
      {"by another Job than the one of this name", false,
       [](ClaimedPod& c) { c.pod.metadata.owner_references[0].uid = "uid-theirs"; }},
      {"by a Job that is gone and had a name of its own", false,
       [](ClaimedPod& c) {
         c.maker.reset();
         c.pod.metadata.owner_references[0].name = "theirs";
       }},
      {"by a Job that is gone, for a later lease than its name says", false,
       [](ClaimedPod& c) {
         c.maker.reset();
         c.pod.metadata.labels[api::kLease] = "uid-job.3";
       }},
      {"with a lease of another job", false,
       [](ClaimedPod& c) {
         c.maker.reset();
         c.pod.metadata.labels[api::kLease] = "uid-x.2";
       }},
      {"made by another one than the status names", false,
       [](ClaimedPod& c) {
         c.maker.reset();
         c.job.status.lease->workload = "uid-first";
       }},
  };
  for (const auto& row : table) {
    ClaimedPod claim;
    row.change(claim);
    EXPECT_EQ(claim.believed(), row.believed) << row.what;
  }
}

TEST(IsChild, ByNamespaceAndController) {
  const ClaimedPod claim;
  EXPECT_TRUE(is_child(*claim.maker, claim.job));
  auto elsewhere = *claim.maker;
  elsewhere.ns = "theirs";
  EXPECT_FALSE(is_child(elsewhere, claim.job));
  auto owned = *claim.maker;
  owned.owner_references[0].controller = false;
  EXPECT_FALSE(is_child(owned, claim.job));
}

}  // namespace
}  // namespace gpupool::planning
