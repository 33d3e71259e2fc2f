// SPDX-License-Identifier: Apache-2.0
#include "server/job_action.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/web/played_api.h"

namespace gpupool::web {
namespace {

using testing::HasSubstr;

constexpr char kUid[] = R"({"uid":"11111111-2222-3333-4444-555555555555"})";

TEST(JobAction, PathsAreReadStrictly) {
  const auto action = read_action("/api/jobs/lab/resnet/suspend");
  ASSERT_TRUE(action);
  EXPECT_EQ(action->job.to_string(), "lab/resnet");
  for (const char* path :
       {"/api/jobs/lab/resnet", "/api/jobs/lab/resnet/delete", "/api/jobs/lab/../cancel",
        "/api/jobs//resnet/cancel", "/api/jobs/lab/res%2fnet/cancel", "/api/jobs/lab/a/b/cancel",
        "/api/jobs/lab/resnet/cancel/", "/api/jobs/lab/resnet/cancel?x", "/jobs/lab/resnet/cancel"})
    EXPECT_FALSE(read_action(path)) << path;
}

TEST(JobAction, OnlyTheJobThatWasSeenIsChanged) {
  test::PlayedClient played(
      [](const net::HttpRequest&) { return net::HttpResponse{.status = 200, .body = "{}"}; });
  for (const char* verb : {"suspend", "resume", "cancel"}) {
    const auto action = read_action(std::string("/api/jobs/lab/resnet/") + verb);
    ASSERT_TRUE(action);
    EXPECT_TRUE(carry_out(played.client, *action, kUid, {}));
  }
  const auto asked = played.api.asked();
  ASSERT_EQ(asked.size(), 3U);
  EXPECT_EQ(asked[0].method, "PATCH");
  EXPECT_THAT(asked[0].target, HasSubstr("/namespaces/lab/gpujobs/resnet"));
  EXPECT_THAT(asked[0].body, HasSubstr(R"("suspend":true)"));
  EXPECT_THAT(asked[1].body, HasSubstr(R"("suspend":false)"));
  EXPECT_EQ(asked[2].method, "DELETE");
  for (const auto& request : asked)
    EXPECT_THAT(request.body, HasSubstr("11111111-2222-3333-4444-555555555555"));
}

TEST(JobAction, WithoutAUidNothingIsDone) {
  test::PlayedClient played([](const net::HttpRequest&) { return net::HttpResponse{.status = 200}; });
  const auto action = read_action("/api/jobs/lab/resnet/cancel");
  for (const char* body : {"", "{}", R"({"uid":1})", R"({"uid":""})", R"({"uid":"\" }"})", "[]"})
    EXPECT_FALSE(carry_out(played.client, *action, body, {})) << body;
  EXPECT_TRUE(played.api.asked().empty());
}

}  // namespace
}  // namespace gpupool::web
