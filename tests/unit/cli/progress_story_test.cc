// SPDX-License-Identifier: Apache-2.0
#include "jobs/progress_story.h"

#include <gtest/gtest.h>

#include "base/rfc3339.h"
#include "tests/unit/cli/played_server.h"

namespace gpupool::jobs {
namespace {

api::GpuJob job_that_moved() {
  return *base::json::read<api::GpuJob>(R"({"metadata": {"name": "resnet"}, "status": {
    "checkpoint": {"step": 1200, "path": "step-1200\u001b[2J", "at": "2026-11-24T10:00:00Z"},
    "history": [{"attempt": 0, "cause": "NodeLost", "nodes": "gpu-1,gpu-3", "left": "gpu-3",
                 "at": "2026-11-24T10:00:48Z", "fromStep": 1200, "repeatedSeconds": 48},
                {"attempt": 1, "cause": "Suspended", "nodes": "gpu-1,gpu-7"}]}})");
}

TEST(ProgressStory, TellsCheckpointAndAttempts) {
  const auto now = *base::parse_rfc3339("2026-11-24T10:03:00Z");
  EXPECT_EQ(checkpoint_text(job_that_moved(), now), "step 1200 in step-1200 [2J, 3m ago");
  EXPECT_EQ(history_text(job_that_moved(), now, test::terminal_with(200, false)),
            "Attempts that ended:\n"
            "  ATTEMPT   ENDED   CAUSE       NODES         LEFT    GOES ON FROM   REPEATED\n"
            "  0         2m12s   NodeLost    gpu-1,gpu-3   gpu-3   1200           48s\n"
            "  1         -       Suspended   gpu-1,gpu-7   -       -              -\n");
}

TEST(ProgressStory, IsEmptyForAJobThatWasNeverInterrupted) {
  EXPECT_EQ(checkpoint_text({}, {}) + history_text({}, {}, {}), "");
}

}  // namespace
}  // namespace gpupool::jobs
