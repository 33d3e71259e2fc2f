// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "base/rfc3339.h"
#include "jobs/story.h"
#include "tests/unit/cli/played_server.h"

namespace gpupool::jobs {
namespace {

using test::terminal_with;

base::WallTime at(const char* time) { return *base::parse_rfc3339(time); }

Story resnet() {
  Story story{.job = *base::json::read<api::GpuJob>(R"({
    "metadata": {"name": "resnet", "namespace": "lab", "creationTimestamp": "2026-01-02T02:00:00Z",
                 "annotations": {"gpupool.dev/retry-of": "old"}},
    "spec": {"pool": "p", "gpus": 4, "gpusPerWorker": 2, "priority": 5, "activeDeadlineSeconds": 86400},
    "status": {"phase": "Running", "reason": "WorkersRunning", "message": "attempt 1 is running\nrank 0: a\u001b[2Jb",
      "startTime": "2026-01-02T02:30:00Z", "attempts": 2, "failures": 1, "gpus": "4",
      "lease": {"id": "u.2", "state": "Running", "nodes": [{"name": "gpu-1"}, {"name": "gpu-2"}], "lost": [{"name": "gpu-3"}]},
      "conditions": [{"type": "Running", "status": "True", "reason": "WorkersRunning",
                      "lastTransitionTime": "2026-01-02T02:35:00Z"},
                     {"type": "Stalled", "status": "False", "reason": "NotStalled",
                      "lastTransitionTime": "2026-01-02T02:00:00Z"}]}})")};
  story.pods = base::json::read<api::List<api::Pod>>(R"({"items": [
    {"metadata": {"name": "resnet-2-1", "creationTimestamp": "2026-01-02T02:33:00Z",
                  "ownerReferences": [{"kind": "StatefulSet", "controller": true}]},
     "spec": {"nodeName": "gpu-2"}, "status": {"phase": "Pending",
       "containerStatuses": [{"state": {"waiting": {"reason": "ImagePullBackOff"}}}]}},
    {"metadata": {"name": "resnet-2-0", "creationTimestamp": "2026-01-02T02:33:00Z",
                  "ownerReferences": [{"kind": "StatefulSet", "controller": true}]},
     "spec": {"nodeName": "gpu-1"}, "status": {"phase": "Running"}}]})")
                   ->items;
  story.events = std::vector<SeenEvent>{
      {"Normal", "Running", "all workers run", std::nullopt, std::nullopt, at("2026-01-02T02:35:00Z")},
      {"Warning", "WorkerFailed",
       "attempt 0: rank 1 exited with code 1; last lines: RuntimeError: CUDA error: out of memory",
       at("2026-01-02T02:31:00Z"), at("2026-01-02T02:32:00Z"), std::nullopt}};
  return story;
}

TEST(Story, Screens) {
  for (const std::size_t columns : {80U, 200U}) {
    for (const bool colour : {false, true}) {
      test::expect_screen("describe-" + std::to_string(columns) + (colour ? "-colour" : ""),
                          story_text(resnet(), at("2026-01-02T03:00:00Z"), terminal_with(columns, colour)));
    }
  }
}

TEST(Story, WhatMayNotBeReadIsNamed) {
  Story story = resnet();
  story.pods.reset();
  story.events.reset();
  const auto text = story_text(story, at("2026-01-02T03:00:00Z"), {});
  EXPECT_NE(text.find("Workers: you may not list pods in this namespace\n"), std::string::npos);
  EXPECT_NE(text.find("Events: you may not list events in this namespace\n"), std::string::npos);
}

}  // namespace
}  // namespace gpupool::jobs
