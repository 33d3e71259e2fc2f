// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <future>
#include <latch>
#include <thread>

#include "net/curl_transport.h"
#include "tests/support/scripted_server.h"

namespace gpupool::net {
namespace {

using base::ErrorCode;
using test::ok;
using test::Peer;
using test::ScriptedServer;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;
using namespace std::chrono_literals;

base::Result<HttpResponse> send(const std::string& url, const HttpRequest& request, bool compression = true) {
  CurlTransport transport({.url = url, .compression = compression, .tls = {}}, "gpupool-test/1");
  return transport.send(request, {});
}

// A server that sends `answer` to the first request of each connection and closes.
auto canned(std::string answer) {
  return [answer = std::move(answer)](Peer& peer) {
    peer.read_request();
    peer.write(answer);
  };
}

TEST(CurlSend, SendsMethodTargetHeadersAndBody) {
  std::promise<std::string> seen;
  const ScriptedServer server([&](Peer& peer) {
    seen.set_value(peer.read_request());
    peer.write(
        "HTTP/1.1 201 Created\r\nX-Mixed-CASE:  spaced \r\nWarning: a\r\nwarning: b\r\nContent-Length: "
        "2\r\n\r\nhi");
  });
  const auto response =
      send(server.url() + "/prefix/", {.method = "POST",
                                       .target = "/apis/x?dryRun=All&l=a%3Db",
                                       .headers = {{"Content-Type", "application/json"}, {"X-Empty", ""}},
                                       .body = R"({"a":1})"});
  ASSERT_TRUE(response) << response.error().message;
  EXPECT_EQ(response->status, 201);
  EXPECT_EQ(response->body, "hi");
  EXPECT_EQ(response->headers.at("x-mixed-case"), "spaced");
  EXPECT_EQ(response->headers.at("warning"), "a, b");
  const std::string request = seen.get_future().get();
  EXPECT_THAT(request, StartsWith("POST /prefix/apis/x?dryRun=All&l=a%3Db HTTP/1.1\r\n"));
  EXPECT_THAT(request, HasSubstr("User-Agent: gpupool-test/1\r\n"));
  EXPECT_THAT(request, HasSubstr("Content-Type: application/json\r\n"));
  EXPECT_THAT(request, HasSubstr("X-Empty:\r\n"));
  EXPECT_THAT(request, HasSubstr("Content-Length: 7\r\n"));
  EXPECT_THAT(request, Not(HasSubstr("Expect:")));
  EXPECT_THAT(request, testing::EndsWith("\r\n\r\n{\"a\":1}"));
}

TEST(CurlSend, EveryMethodArrivesAsItself) {
  for (const std::string method : {"GET", "POST", "PUT", "PATCH", "DELETE"}) {
    for (const std::string body : {"", "{}"}) {
      std::promise<std::string> seen;
      const ScriptedServer server([&](Peer& peer) {
        seen.set_value(peer.read_request());
        peer.write(ok("x"));
      });
      const auto response = send(server.url(), {.method = method, .target = "/t", .body = body});
      ASSERT_TRUE(response) << method << ": " << response.error().message;
      const std::string request = seen.get_future().get();
      EXPECT_THAT(request, StartsWith(method + " /t HTTP/1.1\r\n"));
      EXPECT_THAT(request, testing::EndsWith("\r\n\r\n" + body));
    }
  }
}

TEST(CurlSend, ALargeBodyGoesWithoutAskingFirst) {
  const std::string body(3'000'000, 'x');
  std::promise<std::size_t> length;
  const ScriptedServer server([&](Peer& peer) {
    const std::string request = peer.read_request();
    EXPECT_THAT(request.substr(0, 300), Not(HasSubstr("100-continue")));
    length.set_value(request.size() - request.find("\r\n\r\n") - 4);
    peer.write(ok(""));
  });
  ASSERT_TRUE(send(server.url(), {.method = "PUT", .target = "/", .body = body}));
  EXPECT_EQ(length.get_future().get(), body.size());
}

TEST(CurlSend, AnyStatusIsAnAnswerAndRedirectsAreNotFollowed) {
  for (const int status : {302, 404, 409, 500}) {
    const ScriptedServer server(canned("HTTP/1.1 " + std::to_string(status) +
                                       " X\r\nLocation: http://127.0.0.1:1/\r\nContent-Length: 1\r\n\r\nb"));
    const auto response = send(server.url(), {.target = "/"});
    ASSERT_TRUE(response) << response.error().message;
    EXPECT_EQ(response->status, status);
    EXPECT_EQ(response->body, "b");
    EXPECT_EQ(server.connections(), 1);
  }
}

TEST(CurlSend, ABodyInSingleBytesIsWhole) {
  const ScriptedServer server([](Peer& peer) {
    peer.read_request();
    for (const char c : ok("hello\nworld", "X-A: b\r\n")) peer.write({&c, 1});
  });
  const auto response = send(server.url(), {.target = "/"});
  ASSERT_TRUE(response);
  EXPECT_EQ(response->body, "hello\nworld");
}

TEST(CurlSend, TruncatedAnswersAreErrors) {
  const std::string chunked = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
  for (const std::string& answer :
       {std::string(), std::string("HTTP/1.1 200"), std::string("HTTP/1.1 200 OK\r\nContent-Le"),
        std::string("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n123456789"), chunked, chunked + "5\r\nabc",
        chunked + "5\r\nabcde\r\n", chunked + "zz\r\nabcde\r\n", std::string("garbage\r\n\r\n")}) {
    const ScriptedServer server(canned(answer));
    const auto response = send(server.url(), {.target = "/x?y"});
    ASSERT_FALSE(response) << answer;
    EXPECT_EQ(response.error().code, ErrorCode::kTransport) << answer;
    EXPECT_THAT(response.error().message, StartsWith("GET " + server.url() + "/x: "));
    EXPECT_EQ(server.connections(), 1);
  }
}

TEST(CurlSend, GzipIsAskedForAndUndoneOnlyWithCompression) {
  const std::string plain(5000, 'z');
  // gzip(1) of that.
  const std::string packed(
      "\x1f\x8b\x08\x00\x00\x00\x00\x00\x02\x03\xed\xc1\x31\x01\x00\x00\x00\xc2\xa0\xde"
      "\x4b\x6f\x0a\x3f\xa0\x00\x00\x00\x00\x80\xb7\x01\x2a\x91\x9d\xe8\x88\x13\x00\x00",
      40);
  const ScriptedServer server([&](Peer& peer) {
    const bool asked = peer.read_request().find("Accept-Encoding: gzip\r\n") != std::string::npos;
    peer.write(asked ? ok(packed, "Content-Encoding: gzip\r\n") : ok("uncompressed"));
  });
  EXPECT_EQ(send(server.url(), {.target = "/"}, true)->body, plain);
  EXPECT_EQ(send(server.url(), {.target = "/"}, false)->body, "uncompressed");
}

TEST(CurlSend, ANobodyThereIsATransportError) {
  int port = 0;
  {
    const ScriptedServer gone([](Peer&) {});
    port = gone.port();
  }
  const auto response = send("http://127.0.0.1:" + std::to_string(port), {.target = "/"});
  ASSERT_FALSE(response);
  EXPECT_EQ(response.error().code, ErrorCode::kTransport);
  EXPECT_EQ(response.error().http_status, 0);
}

TEST(CurlSend, BadRequestsNeverLeave) {
  const ScriptedServer server(canned(ok("")));
  EXPECT_FALSE(send(server.url(), {.target = "/", .headers = {{"A", "b\r\nEvil: yes"}}}));
  EXPECT_FALSE(send(server.url(), {.target = "/a b"}));
  EXPECT_EQ(server.connections(), 0);
  const auto bad_url = send("localhost:1", {.target = "/"});
  ASSERT_FALSE(bad_url);
  EXPECT_EQ(bad_url.error().code, ErrorCode::kInvalidArgument);
}

TEST(CurlSend, HugeHeadersPassAndEndlessOnesFail) {
  std::string many;
  for (int i = 0; i < 500; ++i) many += "X-" + std::to_string(i) + ": " + std::string(200, 'v') + "\r\n";
  const ScriptedServer large(canned(ok("b", many)));
  const auto response = send(large.url(), {.target = "/"});
  ASSERT_TRUE(response) << response.error().message;
  EXPECT_EQ(response->headers.at("x-499"), std::string(200, 'v'));

  const ScriptedServer endless([](Peer& peer) {
    peer.read_request();
    peer.write("HTTP/1.1 200 OK\r\n");
    while (peer.write("X: " + std::string(1000, 'v') + "\r\n")) {
    }
  });
  const auto failed = send(endless.url(), {.target = "/"});
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().code, ErrorCode::kTransport);
}

TEST(CurlSend, TheTimeoutCoversTheBody) {
  const ScriptedServer server([](Peer& peer) {
    peer.read_request();
    peer.write("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n123");
    peer.wait_until_client_closes();
  });
  const auto response = send(server.url(), {.target = "/", .timeout = 100ms});
  ASSERT_FALSE(response);
  EXPECT_EQ(response.error().code, ErrorCode::kTimeout);
}

TEST(CurlSend, AStopEndsAStalledCall) {
  std::latch stalled(1);
  const ScriptedServer server([&](Peer& peer) {
    peer.read_request();
    stalled.count_down();
    peer.wait_until_client_closes();
  });
  CurlTransport transport({.url = server.url(), .tls = {}}, "test");
  std::stop_source stop;
  std::jthread stopper([&] {
    stalled.wait();
    stop.request_stop();
  });
  const auto response = transport.send({.target = "/", .timeout = std::nullopt}, stop.get_token());
  ASSERT_FALSE(response);
  EXPECT_EQ(response.error().code, ErrorCode::kCancelled);
  const auto stopped_before = transport.send({.target = "/"}, stop.get_token());
  ASSERT_FALSE(stopped_before);
  EXPECT_EQ(stopped_before.error().code, ErrorCode::kCancelled);
  EXPECT_EQ(server.connections(), 1);
}

}  // namespace
}  // namespace gpupool::net
