// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/device-plugin/health/tracker_fixture.h"

namespace gpupool::health {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

class RestoreTest : public HealthTrackerTest {
 protected:
  // Another plugin process, which has not seen the driver yet.
  HealthTracker restarted(const std::string& saved, const std::string& boot_id = "boot-1") {
    HealthTracker next{settings, errors};
    const auto restored = next.restore(saved, boot_id);
    EXPECT_TRUE(restored) << (restored ? "" : restored.error().message);
    return next;
  }
};

TEST_F(RestoreTest, ASickGpuStaysSick) {
  xid("GPU-a", 79);
  pass(5);
  reset_needed("GPU-a");
  failing("GPU-b");
  const auto before = tracker.states();
  tracker = restarted(tracker.save("boot-1"));
  EXPECT_EQ(tracker.states(), before);
  list({"GPU-a", "GPU-b"});
  EXPECT_EQ(tracker.states(), before);
}

TEST_F(RestoreTest, CleanProbesStartAnew) {
  failing("GPU-a");
  clean_seconds("GPU-a", 9);
  tracker = restarted(tracker.save("boot-1"));
  list({"GPU-a", "GPU-b"});
  clean_seconds("GPU-a", 2);
  EXPECT_FALSE(state("GPU-a").healthy);
  clean_seconds("GPU-a", 1);
  EXPECT_TRUE(state("GPU-a").healthy);
}

TEST_F(RestoreTest, ARebootHasResetAll) {
  xid("GPU-a", 79);
  tracker = restarted(tracker.save("boot-1"), "boot-2");
  EXPECT_THAT(tracker.states(), IsEmpty());
}

TEST_F(RestoreTest, HealthyGpusAreNotSaved) {
  EXPECT_EQ(tracker.save("boot-1"), "{\"version\": 1, \"bootID\": \"boot-1\", \"gpus\": {}}\n");
  clean_seconds("GPU-a", 5);
  EXPECT_EQ(tracker.save("boot-1"), "{\"version\": 1, \"bootID\": \"boot-1\", \"gpus\": {}}\n");
}

TEST_F(RestoreTest, AnyTextSurvives) {
  tracker.driver_gone("a \"quoted\"\n\\ line \xC3\xA4", now);
  const auto before = tracker.states();
  tracker = restarted(tracker.save("boot \"1\""), "boot \"1\"");
  EXPECT_EQ(tracker.states(), before);
}

TEST_F(RestoreTest, WhatIsNoSavedHealthIsRefusedAndChangesNothing) {
  xid("GPU-a", 79);
  const auto before = tracker.states();
  for (const char* text :
       {"", "{", "[]", "{}", R"({"version": 2, "bootID": "boot-1", "gpus": {}})",
        R"({"version": 1, "bootID": "boot-1", "gpus": [1]})",
        R"({"version": 1, "bootID": "boot-1", "gpus": {"GPU-a": {"since": "yesterday"}}})"}) {
    const auto restored = tracker.restore(text, "boot-1");
    ASSERT_FALSE(restored) << text;
    EXPECT_EQ(restored.error().code, base::ErrorCode::kParse) << text;
    EXPECT_EQ(tracker.states(), before) << text;
  }
  EXPECT_THAT(tracker.restore(R"({"version": 2})", "b").error().message, HasSubstr("version 2"));
}

}  // namespace
}  // namespace gpupool::health
