// SPDX-License-Identifier: Apache-2.0
#include "server/access.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "server/session_answer.h"
#include "tests/unit/web/played_api.h"

namespace gpupool::web {
namespace {

using test::PlayedClient;
using testing::HasSubstr;

TEST(Access, QuestionsAreRead) {
  const auto read =
      read_questions(R"([{"verb":"get","group":"gpupool.dev","resource":"gpujobs","namespace":"lab"}])");
  ASSERT_TRUE(read) << read.error().message;
  ASSERT_EQ(read->size(), 1U);
  EXPECT_EQ(read->front().verb, "get");
  EXPECT_EQ(read->front().ns, "lab");
}

TEST(Access, WrongQuestionsAreRefused) {
  std::string many = "[";
  for (int i = 0; i < 21; ++i) many += std::string(i == 0 ? "" : ",") + R"({"verb":"get"})";
  for (const std::string& text : {std::string("{}"), std::string("[1]"), std::string(R"([{"verb":1}])"),
                                  std::string("["), many + "]"}) {
    const auto read = read_questions(text);
    ASSERT_FALSE(read) << text;
    EXPECT_EQ(read.error().code, base::ErrorCode::kInvalidArgument);
  }
}

TEST(Access, TheApiServerAnswers) {
  PlayedClient played([](const net::HttpRequest& request) {
    EXPECT_EQ(request.method, "POST");
    EXPECT_THAT(request.target, HasSubstr("/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"));
    const bool yes = request.body.find(R"("verb":"get")") != std::string::npos;
    return net::HttpResponse{.status = 201,
                             .body = std::string(R"({"status":{"allowed":)") + (yes ? "true}}" : "false}}")};
  });
  EXPECT_EQ(may(played.client, {.verb = "get", .resource = "pods"}, {}), true);
  EXPECT_EQ(may(played.client, {.verb = "list", .resource = "pods"}, {}), false);
}

TEST(Access, AnAnswerThatSaysNothingIsNoPermission) {
  PlayedClient played(
      [](const net::HttpRequest&) { return net::HttpResponse{.status = 201, .body = R"({"status":{}})"}; });
  EXPECT_EQ(may(played.client, {.verb = "get", .resource = "pods"}, {}), false);
}

TEST(Session, ANewServerTellsWhoTheVisitorIs) {
  PlayedClient played([](const net::HttpRequest& request) {
    const bool who = request.target.find("selfsubjectreviews") != std::string::npos;
    return net::HttpResponse{
        .status = 201,
        .body = who ? R"({"status":{"userInfo":{"username":"alice"}}})" : R"({"status":{"allowed":true}})"};
  });
  const auto json = session_json(played.client, {"token", "lab", "1.2"}, {});
  ASSERT_TRUE(json);
  EXPECT_THAT(*json, HasSubstr(R"("user":"alice")"));
  EXPECT_THAT(*json, HasSubstr(R"("allNamespaces":true)"));
}

TEST(Session, AnOldServerDoesNotTell) {
  PlayedClient played([](const net::HttpRequest& request) {
    const bool who = request.target.find("selfsubjectreviews") != std::string::npos;
    return who ? net::HttpResponse{.status = 404, .body = "404 page not found"}
               : net::HttpResponse{.status = 201, .body = R"({"status":{"allowed":false}})"};
  });
  const auto json = session_json(played.client, {"token", "lab", "1.2"}, {});
  ASSERT_TRUE(json);
  EXPECT_THAT(*json, HasSubstr(R"("user":null)"));
  EXPECT_THAT(*json, HasSubstr(R"("allNamespaces":false)"));
}

}  // namespace
}  // namespace gpupool::web
