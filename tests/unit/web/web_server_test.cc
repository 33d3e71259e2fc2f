// SPDX-License-Identifier: Apache-2.0
#include "server/web_server.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "net/curl_transport.h"
#include "server/token_visitors.h"
#include "tests/unit/web/played_api.h"

namespace gpupool::web {
namespace {

using testing::HasSubstr;

class WebServerTest : public testing::Test {
 protected:
  void SetUp() override {
    auto started = WebServer::start(
        {.bind = "127.0.0.1:0", .hosts = {"127.0.0.1"}, .tabs = 1, .ns = "lab", .version = "1.2"}, visitors_,
        clock_);
    ASSERT_TRUE(started) << started.error().message;
    server_ = std::move(*started);
    url_ = "http://127.0.0.1:" + std::to_string(server_->port());
  }

  net::HttpResponse ask(const std::string& method, const std::string& target, const std::string& body = "",
                        std::vector<net::Header> headers = {{"Authorization", "Bearer good"}}) {
    net::CurlTransport client({.url = url_, .tls = {}}, "test");
    const auto response =
        client.send({.method = method, .target = target, .headers = std::move(headers), .body = body}, {});
    EXPECT_TRUE(response) << response.error().message;
    return response ? *response : net::HttpResponse{};
  }

  // Knows the token "good", which may read pools and nothing else.
  test::PlayedApi api_{[](const net::HttpRequest& request) -> net::HttpResponse {
    for (const auto& header : request.headers)
      if (header.name == "Authorization" && header.value != "Bearer good")
        return {.status = 401, .body = R"({"kind":"Status","reason":"Unauthorized","code":401})"};
    if (request.target.find("reviews") != std::string::npos)
      return {.status = 201, .body = R"({"status":{"allowed":false}})"};
    return {.status = 403, .body = R"({"kind":"Status","reason":"Forbidden","code":403})"};
  }};
  base::SystemClock clock_;
  base::Metrics metrics_;
  TokenVisitors visitors_{"token", {api_}, clock_, metrics_};
  std::unique_ptr<WebServer> server_;
  std::string url_;
};

TEST_F(WebServerTest, ServesThePageToAnybody) {
  const auto page = ask("GET", "/", "", {});
  EXPECT_EQ(page.status, 200);
  EXPECT_THAT(page.body, HasSubstr("<title>gpupool</title>"));
  EXPECT_THAT(page.headers.at("content-security-policy"), HasSubstr("default-src 'none'"));
  const auto again = ask("GET", "/", "", {{"If-None-Match", page.headers.at("etag")}});
  EXPECT_EQ(again.status, 304);
  EXPECT_EQ(ask("GET", "/../../etc/passwd").status, 404);
  EXPECT_EQ(ask("GET", "/%2e%2e/main.js").status, 404);
  EXPECT_EQ(ask("POST", "/", "x").status, 405);
  EXPECT_TRUE(api_.asked().empty());
}

TEST_F(WebServerTest, AnotherNameIsNotServed) {
  EXPECT_EQ(ask("GET", "/", "", {{"Host", "evil.example"}}).status, 421);
  EXPECT_EQ(
      ask("GET", "/api/session", "", {{"Authorization", "Bearer good"}, {"Sec-Fetch-Site", "cross-site"}})
          .status,
      403);
  EXPECT_TRUE(api_.asked().empty());
}

TEST_F(WebServerTest, WithoutCredentialsNothingIsAsked) {
  for (const char* path : {"/api/session", "/api/nothing"}) {
    const auto answer = ask("GET", path, "", {});
    EXPECT_EQ(answer.status, 401) << path;
    EXPECT_THAT(answer.body, HasSubstr(R"("mode":"token")"));
    EXPECT_EQ(answer.headers.at("cache-control"), "no-store");
  }
  EXPECT_EQ(ask("POST", "/api/stream", R"({"topics":[]})", {}).status, 401);
  EXPECT_EQ(ask("POST", "/api/jobs/lab/a/cancel", R"({"uid":"u"})", {{"Impersonate-User", "admin"}}).status,
            401);
  EXPECT_TRUE(api_.asked().empty());
}

TEST_F(WebServerTest, TheApiServerDecides) {
  EXPECT_EQ(ask("GET", "/api/session", "", {{"Authorization", "Bearer bad"}}).status, 401);
  const auto session = ask("GET", "/api/session");
  EXPECT_EQ(session.status, 200);
  EXPECT_THAT(session.body, HasSubstr(R"("namespace":"lab")"));
  EXPECT_EQ(ask("POST", "/api/access", R"([{"verb":"get","resource":"pods"}])").body, "[false]");
  EXPECT_EQ(ask("POST", "/api/jobs/lab/a/cancel", R"({"uid":"u"})").status, 403);
  EXPECT_EQ(ask("POST", "/api/jobs/lab/a/cancel", "{}").status, 400);
  EXPECT_EQ(ask("POST", "/api/jobs/lab/a/explode", "{}").status, 404);
  EXPECT_EQ(ask("POST", "/api/stream", R"({"topics":[{"id":"a","objects":"secrets"}]})").status, 400);
  EXPECT_EQ(ask("POST", "/api/stream", std::string(70000, 'x')).status, 413);
}

TEST_F(WebServerTest, TabsAreCounted) {
  net::CurlTransport client({.url = url_, .tls = {}}, "test");
  const net::HttpRequest stream{.method = "POST",
                                .target = "/api/stream",
                                .headers = {{"Authorization", "Bearer good"}},
                                .body = R"({"topics":[{"id":"p","objects":"gpupools"}]})"};
  int status_of_second = 0;
  const auto first = client.stream(stream,
                                   [&](std::string_view piece) {
                                     if (piece.find("403") == std::string_view::npos) return true;
                                     status_of_second = ask("POST", "/api/stream", stream.body).status;
                                     return false;
                                   },
                                   {});
  EXPECT_FALSE(first);
  EXPECT_EQ(status_of_second, 429);
}

}  // namespace
}  // namespace gpupool::web
