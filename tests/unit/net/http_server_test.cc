// SPDX-License-Identifier: Apache-2.0
#include "net/http_server.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <arpa/inet.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <filesystem>
#include <iterator>
#include <thread>

#include "base/unique_fd.h"
#include "net/curl_transport.h"
#include "tests/support/scripted_server.h"

namespace gpupool::net {
namespace {

using testing::HasSubstr;

std::unique_ptr<HttpServer> start(const std::string& bind) {
  auto server = HttpServer::start(
      bind, {{"/metrics", [](auto&) { return ServerResponse{.content_type = "text/x", .body = "m 1\n"}; }},
             {"/healthz",
              [](const ServerRequest& request) {
                return ServerResponse{.status = 503, .body = request.path + "|" + request.query};
              }},
             {"/throws", [](auto&) -> ServerResponse { throw std::runtime_error("secret"); }}});
  EXPECT_TRUE(server) << server.error().message;
  return server ? std::move(*server) : nullptr;
}

HttpResponse get(int port, const std::string& target, const std::string& method = "GET") {
  CurlTransport client({.url = "http://127.0.0.1:" + std::to_string(port), .tls = {}}, "test");
  auto response = client.send({.method = method, .target = target}, {});
  EXPECT_TRUE(response) << response.error().message;
  return response ? *response : HttpResponse{};
}

TEST(HttpServer, ServesItsPathsAndWhatIsBelow) {
  const auto server = start("127.0.0.1:0");
  const auto metrics = get(server->port(), "/metrics");
  EXPECT_EQ(metrics.status, 200);
  EXPECT_EQ(metrics.headers.at("content-type"), "text/x");
  EXPECT_EQ(metrics.body, "m 1\n");
  const auto health = get(server->port(), "/healthz/etcd/x?verbose=%20&a");
  EXPECT_EQ(health.status, 503);
  EXPECT_EQ(health.body, "/healthz/etcd/x|verbose=%20&a");
}

TEST(HttpServer, RefusesEverythingElse) {
  const auto server = start("127.0.0.1:0");
  for (const char* path : {"/", "/metricsx", "/health", "/x/metrics", "/etc/passwd", "/../metrics/../x"}) {
    EXPECT_EQ(get(server->port(), path).status, 404) << path;
  }
  const auto post = get(server->port(), "/metrics", "DELETE");
  EXPECT_EQ(post.status, 405);
  EXPECT_EQ(post.headers.at("allow"), "GET, HEAD");
  const auto head = get(server->port(), "/metrics", "HEAD");
  EXPECT_EQ(head.status, 200);
  EXPECT_EQ(head.body, "");
  const auto thrown = get(server->port(), "/throws");
  EXPECT_EQ(thrown.status, 500);
  EXPECT_THAT(thrown.body, testing::Not(HasSubstr("secret")));
}

TEST(HttpServer, ListensOnAllAddressesWithoutAHost) {
  const auto server = start(":0");
  EXPECT_EQ(get(server->port(), "/metrics").status, 200);
}

TEST(HttpServer, BadAddressesAreExplained) {
  for (const char* bind : {"", "8080", ":", ":x", "127.0.0.1:65536", "::1:80", "a,b:80", ":-1"}) {
    const auto server = HttpServer::start(bind, {});
    ASSERT_FALSE(server) << bind;
    EXPECT_EQ(server.error().code, base::ErrorCode::kInvalidArgument);
    EXPECT_THAT(server.error().message, HasSubstr("HOST:PORT"));
  }
}

TEST(HttpServer, APortInUseIsAnErrorThatSaysSo) {
  const test::ScriptedServer other([](test::Peer&) {});
  const auto server = HttpServer::start("127.0.0.1:" + std::to_string(other.port()), {});
  ASSERT_FALSE(server);
  EXPECT_EQ(server.error().code, base::ErrorCode::kIo);
  EXPECT_THAT(server.error().message, HasSubstr("in use"));
}

TEST(HttpServer, ManyClientsAreServed) {
  const auto server = start("127.0.0.1:0");
  std::vector<std::jthread> clients;
  for (int i = 0; i < 8; ++i) {
    clients.emplace_back([&] {
      for (int n = 0; n < 10; ++n) EXPECT_EQ(get(server->port(), "/metrics").body, "m 1\n");
    });
  }
}

std::unique_ptr<HttpServer> start_with_bodies(Handler handler) {
  auto server =
      HttpServer::start("127.0.0.1:0", {{"/", std::move(handler)}}, {.streams = true, .max_body = 10});
  EXPECT_TRUE(server) << server.error().message;
  return server ? std::move(*server) : nullptr;
}

HttpResponse post(int port, const std::string& body) {
  CurlTransport client({.url = "http://127.0.0.1:" + std::to_string(port), .tls = {}}, "test");
  const auto response =
      client.send({.method = "POST", .target = "/a", .headers = {{"x-who", "me"}}, .body = body}, {});
  EXPECT_TRUE(response) << response.error().message;
  return response ? *response : HttpResponse{};
}

TEST(HttpServer, GivesHandlersTheBodyAndTheHeaders) {
  const auto server = start_with_bodies([](const ServerRequest& request) {
    return ServerResponse{.status = 201,
                          .body = request.method + " " + request.body + " " +
                                  std::string(request.header("X-WHO")) + " " + request.peer +
                                  std::string(request.header("X-Not")),
                          .headers = {{"Cache-Control", "max-age=1"}, {"ETag", "\"7\""}}};
  });
  const auto answer = post(server->port(), "0123456789");
  EXPECT_EQ(answer.status, 201);
  EXPECT_EQ(answer.body, "POST 0123456789 me 127.0.0.1");
  EXPECT_EQ(answer.headers.at("cache-control"), "max-age=1");
  EXPECT_EQ(answer.headers.at("etag"), "\"7\"");
  EXPECT_EQ(post(server->port(), "0123456789a").status, 413);
  EXPECT_EQ(get(server->port(), "/").headers.at("cache-control"), "max-age=1");
}

base::UniqueFd connect_to(int port) {
  base::UniqueFd to(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  EXPECT_EQ(::connect(to.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  return to;
}

bool is_answered(const base::UniqueFd& connection, int milliseconds) {
  pollfd waiting{.fd = connection.get(), .events = POLLIN, .revents = 0};
  return ::poll(&waiting, 1, milliseconds) == 1;
}

void send_to(const base::UniqueFd& connection, const std::string& text) {
  EXPECT_EQ(::send(connection.get(), text.data(), text.size(), MSG_NOSIGNAL), std::ssize(text));
}

// Else the connection would be closed while the client still sends, and it would not see why.
TEST(HttpServer, ABodyThatIsTooLongIsReadBeforeItIsRefused) {
  const auto server = start_with_bodies([](auto&) { return ServerResponse{}; });
  const auto client = connect_to(server->port());
  send_to(client, "POST /a HTTP/1.1\r\nHost: a\r\nContent-Length: 2000\r\n\r\n" + std::string(1000, 'x'));
  EXPECT_FALSE(is_answered(client, 100));
  send_to(client, std::string(1000, 'x'));
  ASSERT_TRUE(is_answered(client, 60'000));
  std::array<char, 64> answer{};
  const auto length = ::recv(client.get(), answer.data(), answer.size(), 0);
  EXPECT_TRUE(std::string_view(answer.data(), static_cast<std::size_t>(std::max<ssize_t>(length, 0)))
                  .starts_with("HTTP/1.1 413 "));
  // What nobody would read to its end is refused at once.
  const auto huge = connect_to(server->port());
  send_to(huge, "POST /a HTTP/1.1\r\nHost: a\r\nContent-Length: 1000000000\r\n\r\n");
  EXPECT_TRUE(is_answered(huge, 60'000));
}

TEST(HttpServer, WithoutStreamsTheNumberOfThreadsStaysTheSame) {
  const auto threads = [] {
    return std::distance(std::filesystem::directory_iterator("/proc/self/task"), {});
  };
  const auto server = start("127.0.0.1:0");
  const auto before = threads();
  CurlTransport client({.url = "http://127.0.0.1:" + std::to_string(server->port()), .tls = {}}, "test");
  for (int i = 0; i < 20; ++i) {
    ASSERT_TRUE(client.send({.target = "/metrics"}, {}));
    EXPECT_EQ(threads(), before);
  }
}

TEST(HttpServer, StreamsUntilTheClientHasEnough) {
  struct Owner {
    explicit Owner(std::atomic<bool>& e) : ended(e) {}
    Owner(const Owner&) = delete;
    Owner& operator=(const Owner&) = delete;
    ~Owner() { ended = true; }
    std::atomic<bool>& ended;
  };
  std::atomic<bool> ended{false};
  const auto server = start_with_bodies([&](const ServerRequest&) {
    return ServerResponse{.stream = [owner = std::make_shared<Owner>(ended)](const std::stop_token&) {
      return std::optional<std::string>("line\n");
    }};
  });
  CurlTransport client({.url = "http://127.0.0.1:" + std::to_string(server->port()), .tls = {}}, "test");
  std::string got;
  const auto answer = client.stream({.target = "/"},
                                    [&](std::string_view piece) {
                                      got += piece;
                                      return got.size() < 1000;
                                    },
                                    {});
  EXPECT_FALSE(answer);
  EXPECT_TRUE(got.starts_with("line\nline\n"));
  while (!ended) std::this_thread::yield();
}

TEST(HttpServer, AStreamThatEndsIsWhole) {
  const std::string large(200'000, 'x');
  const auto server = start_with_bodies([&](const ServerRequest&) {
    return ServerResponse{.stream = [pieces = std::vector<std::string>{large, "b", "", "a"}](
                                        const std::stop_token&) mutable -> std::optional<std::string> {
      if (pieces.empty()) return std::nullopt;
      std::string piece = pieces.back();
      pieces.pop_back();
      return piece;
    }};
  });
  EXPECT_EQ(get(server->port(), "/").body, "ab" + large);
  EXPECT_EQ(get(server->port(), "/", "HEAD").body, "");
}

TEST(HttpServer, StreamsEndWithTheServer) {
  std::atomic<bool> begun{false};
  auto server = start_with_bodies([&](const ServerRequest&) {
    return ServerResponse{.stream = [&](const std::stop_token& stop) -> std::optional<std::string> {
      if (!begun.exchange(true)) return "first";
      while (!stop.stop_requested()) std::this_thread::yield();
      return std::nullopt;
    }};
  });
  const int port = server->port();
  const std::jthread reader([port] {
    CurlTransport client({.url = "http://127.0.0.1:" + std::to_string(port), .tls = {}}, "test");
    const auto answer = client.stream({.target = "/"}, [](std::string_view) { return true; }, {});
    EXPECT_TRUE(!answer || answer->status == 200);
  });
  while (!begun) std::this_thread::yield();
  server.reset();
}

TEST(HttpServer, AStreamMayPauseForLongerThanOtherConnections) {
  auto server = HttpServer::start(
      "127.0.0.1:0",
      {{"/",
        [](const ServerRequest&) {
          return ServerResponse{
              .stream = [sent = 0](const std::stop_token&) mutable -> std::optional<std::string> {
                if (++sent == 3) return std::nullopt;
                if (sent == 2) std::this_thread::sleep_for(std::chrono::milliseconds(2500));
                return "x";
              }};
        }}},
      {.streams = true, .timeout = std::chrono::seconds(1)});
  ASSERT_TRUE(server) << server.error().message;
  EXPECT_EQ(get((*server)->port(), "/").body, "xx");
}

TEST(HttpServer, AnAnswerMayTakeLongerThanAConnectionMayBeIdle) {
  for (const bool streams : {false, true}) {
    const auto server = HttpServer::start("127.0.0.1:0",
                                          {{"/",
                                            [](const ServerRequest&) {
                                              std::this_thread::sleep_for(std::chrono::milliseconds(1200));
                                              return ServerResponse{.body = "late"};
                                            }}},
                                          {.streams = streams, .timeout = std::chrono::seconds(1)});
    ASSERT_TRUE(server) << server.error().message;
    EXPECT_EQ(get((*server)->port(), "/").body, "late");
  }
}

TEST(HttpServer, AnExceptionCutsAStream) {
  const auto server = start_with_bodies([](const ServerRequest&) {
    return ServerResponse{.stream = [](const std::stop_token&) -> std::optional<std::string> {
      throw std::runtime_error("x");
    }};
  });
  CurlTransport client({.url = "http://127.0.0.1:" + std::to_string(server->port()), .tls = {}}, "test");
  EXPECT_FALSE(client.send({.target = "/"}, {}));
}

}  // namespace
}  // namespace gpupool::net
