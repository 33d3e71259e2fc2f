// SPDX-License-Identifier: Apache-2.0
#include "stream/list_topic.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

#include "api/v1alpha1/gpu_job.h"
#include "api/v1alpha1/gpu_pool.h"
#include "tests/support/manual_clock.h"
#include "tests/unit/web/played_api.h"

namespace gpupool::web {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

// What a tab is sent until the topic waits for its next try.
std::vector<std::string> sent_by(const Topic& topic, test::PlayedClient& played) {
  test::ManualClock clock;
  Outbox outbox(clock);
  {
    std::jthread runner(
        [&](const std::stop_token& stop) { run_list_topic(played.client, topic, outbox, clock, stop); });
    EXPECT_TRUE(clock.wait_for_waiters(1));
  }
  std::vector<std::string> lines;
  std::string all = outbox.take({}, {});
  while (!all.empty()) {
    const auto end = all.find('\n');
    lines.push_back(all.substr(0, end));
    all.erase(0, end + 1);
  }
  return lines;
}

bool is_watch(const net::HttpRequest& request) { return request.target.find("watch=") != std::string::npos; }

TEST(ListTopic, ATableIsSentAndThenItsChanges) {
  test::PlayedClient played([](const net::HttpRequest& request) {
    if (!is_watch(request)) {
      return net::HttpResponse{.status = 200,
                               .body = R"({"kind":"Table","metadata":{"resourceVersion":"7"},)"
                                       R"("columnDefinitions":[{"name":"Name"},{"name":"Namespace"}],)"
                                       R"("rows":[{"cells":["a","lab"]},{"cells":["b","lab"]}]})"};
    }
    return net::HttpResponse{
        .status = 200,
        .body =
            "{\"type\":\"MODIFIED\",\"object\":{\"kind\":\"Table\",\"rows\":[{\"cells\":[\"a\",\"lab\"]}]}}\n"
            "{\"type\":\"DELETED\",\"object\":{\"kind\":\"Table\",\"rows\":[{\"cells\":[\"b\",\"lab\"]}]}}"
            "\n"};
  });
  const Topic topic{.id = "t", .kind = Topic::Kind::kTable, .type = &api::GpuJob::kType};
  EXPECT_THAT(sent_by(topic, played),
              ElementsAre(HasSubstr(R"("columns":["Name","Namespace"])"),
                          HasSubstr(R"("rows":[["lab/a",["a","lab"]],["lab/b",["b","lab"]]])"),
                          HasSubstr(R"("complete":true)"), HasSubstr(R"("rows":[["lab/a")"),
                          HasSubstr(R"("gone":["lab/b"])")));
  EXPECT_THAT(played.api.asked().back().target, HasSubstr("resourceVersion=7"));
}

TEST(ListTopic, ObjectsAreSentAndThenTheirChanges) {
  test::PlayedClient played([](const net::HttpRequest& request) {
    if (!is_watch(request)) {
      return net::HttpResponse{
          .status = 200,
          .body = R"({"kind":"GpuPoolList","apiVersion":"gpupool.dev/v1alpha1",)"
                  R"("metadata":{"resourceVersion":"7"},"items":[{"metadata":{"name":"p"}}]})"};
    }
    return net::HttpResponse{.status = 200,
                             .body =
                                 "{\"type\":\"ADDED\",\"object\":{\"metadata\":{\"name\":\"q\"}}}\n"
                                 "{\"type\":\"DELETED\",\"object\":{\"metadata\":{\"name\":\"p\"}}}\n"};
  });
  const Topic topic{.id = "t", .kind = Topic::Kind::kObjects, .type = &api::GpuPool::kType, .name = "p"};
  EXPECT_THAT(sent_by(topic, played),
              ElementsAre(HasSubstr(R"("reset":true,"objects":[["p",)"), HasSubstr(R"("complete":true)"),
                          HasSubstr(R"("objects":[["q",)"), HasSubstr(R"("gone":["p"])")));
  EXPECT_THAT(played.api.asked().front().target, HasSubstr("fieldSelector=metadata.name%3Dp"));
}

TEST(ListTopic, WhoMayNotReadIsToldAndAskedForLater) {
  test::PlayedClient played([](const net::HttpRequest&) {
    return net::HttpResponse{.status = 403,
                             .body = R"({"kind":"Status","reason":"Forbidden","code":403,"message":"no"})"};
  });
  const Topic topic{.id = "t", .kind = Topic::Kind::kObjects, .type = &api::GpuPool::kType};
  EXPECT_THAT(sent_by(topic, played), ElementsAre(HasSubstr(R"("status":403)")));
}

TEST(ListTopic, AnUnknownVisitorEndsTheTopic) {
  test::PlayedClient played([](const net::HttpRequest&) {
    return net::HttpResponse{
        .status = 401, .body = R"({"kind":"Status","reason":"Unauthorized","code":401,"message":"no"})"};
  });
  const Topic topic{.id = "t", .kind = Topic::Kind::kTable, .type = &api::GpuJob::kType};
  test::ManualClock clock;
  Outbox outbox(clock);
  run_list_topic(played.client, topic, outbox, clock, {});  // returns
  EXPECT_THAT(outbox.take({}, {}), HasSubstr(R"("status":401)"));
}

}  // namespace
}  // namespace gpupool::web
