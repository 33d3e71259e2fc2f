// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <mutex>
#include <thread>

#include "net/curl_transport.h"
#include "tests/support/scripted_server.h"

namespace gpupool::net {
namespace {

using base::ErrorCode;
using test::ok;
using test::Peer;
using test::ScriptedServer;

// Answers every request with the number of its connection.
void tell_connection(Peer& peer) {
  while (!peer.read_request().empty()) peer.write(ok(std::to_string(peer.number())));
}

std::string get(CurlTransport& transport) {
  const auto response = transport.send({.target = "/"}, {});
  return response ? response->body : response.error().message;
}

TEST(CurlPool, RequestsInTurnShareOneConnection) {
  const ScriptedServer server(&tell_connection);
  CurlTransport transport({.url = server.url(), .tls = {}}, "test");
  for (int i = 0; i < 5; ++i) EXPECT_EQ(get(transport), "1");
  const auto posted = transport.send({.method = "POST", .target = "/", .body = "{}"}, {});
  EXPECT_EQ(posted->body, "1");
}

TEST(CurlPool, AStreamHasItsOwn) {
  const ScriptedServer server(&tell_connection);
  CurlTransport transport({.url = server.url(), .tls = {}}, "test");
  EXPECT_EQ(get(transport), "1");
  std::string streamed;
  EXPECT_TRUE(
      transport.stream({.target = "/"}, [&](std::string_view piece) { return streamed += piece, true; }, {}));
  EXPECT_EQ(streamed, "2");
  EXPECT_EQ(get(transport), "1");
}

TEST(CurlPool, ManyThreadsMaySend) {
  const ScriptedServer server(&tell_connection);
  CurlTransport transport({.url = server.url(), .tls = {}}, "test");
  std::atomic<int> answers = 0;
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < 8; ++i) {
      threads.emplace_back([&] {
        for (int n = 0; n < 50; ++n) answers += transport.send({.target = "/"}, {}) ? 1 : 0;
      });
    }
  }
  EXPECT_EQ(answers, 400);
  EXPECT_LE(server.connections(), 8);
}

TEST(CurlPool, NewTlsMaterialMeansNewConnections) {
  const ScriptedServer server(&tell_connection);
  std::mutex mutex;
  TlsMaterial material{.ca_pem = "one"};
  CurlTransport transport({.url = server.url(),
                           .tls = [&]() -> base::Result<TlsMaterial> {
                             const std::lock_guard lock(mutex);
                             return material;
                           }},
                          "test");
  const auto stream = [&] {  // a new connection asks for the material at once
    (void)transport.stream({.target = "/"}, [](std::string_view) { return true; }, {});
  };
  EXPECT_EQ(get(transport), "1");
  stream();
  EXPECT_EQ(get(transport), "1");
  {
    const std::lock_guard lock(mutex);
    material.ca_pem = "two";
  }
  stream();
  EXPECT_EQ(get(transport), "4");
  EXPECT_EQ(get(transport), "4");
}

// A server that answers the first request of its first connection and closes it at the second, as if it had
// died in between.
class DiesOnReuse {
 public:
  DiesOnReuse()
      : server([this](Peer& peer) {
          while (true) {
            const std::string request = peer.read_request();
            if (request.empty()) return;
            ++requests;
            if (peer.number() == 1 && requests == 2) return;
            peer.write(ok("fine"));
          }
        }) {}

  std::atomic<int> requests = 0;
  ScriptedServer server;
};

TEST(CurlPool, AWriteIsNotRepeatedWhenTheReusedConnectionDies) {
  for (const std::string method : {"POST", "PUT", "PATCH", "DELETE"}) {
    DiesOnReuse dying;
    CurlTransport transport({.url = dying.server.url(), .tls = {}}, "test");
    ASSERT_EQ(get(transport), "fine");
    const auto response = transport.send({.method = method, .target = "/", .body = "{}"}, {});
    ASSERT_FALSE(response) << method;
    EXPECT_EQ(response.error().code, ErrorCode::kTransport);
    EXPECT_EQ(dying.requests, 2) << method;
    EXPECT_EQ(get(transport), "fine");  // the transport still works
  }
}

TEST(CurlPool, AWriteWithoutABodyIsNotRepeatedEither) {
  DiesOnReuse dying;
  CurlTransport transport({.url = dying.server.url(), .tls = {}}, "test");
  ASSERT_EQ(get(transport), "fine");
  const auto response = transport.send({.method = "POST", .target = "/"}, {});
  EXPECT_TRUE(response) << response.error().message;  // uses a new connection from the start
  EXPECT_EQ(dying.requests, 2);
  EXPECT_EQ(dying.server.connections(), 2);
}

// libcurl sends this request again on its own. That is harmless for requests that change nothing or name what
// they delete.
TEST(CurlPool, AReadOverADeadReusedConnectionSucceeds) {
  for (const std::string method : {"GET", "DELETE"}) {
    DiesOnReuse dying;
    CurlTransport transport({.url = dying.server.url(), .tls = {}}, "test");
    ASSERT_EQ(get(transport), "fine");
    const auto response = transport.send({.method = method, .target = "/"}, {});
    ASSERT_TRUE(response) << response.error().message;
    EXPECT_EQ(response->body, "fine");
    EXPECT_EQ(dying.requests, 3);
  }
}

TEST(CurlPool, AnIdleConnectionThatTheServerClosedIsNotUsed) {
  std::atomic<int> requests = 0;
  const ScriptedServer server([&](Peer& peer) {
    peer.read_request();
    ++requests;
    peer.write(ok(std::to_string(peer.number())));
  });
  CurlTransport transport({.url = server.url(), .tls = {}}, "test");
  for (int i = 1; i <= 3; ++i) EXPECT_EQ(get(transport), std::to_string(i));
  EXPECT_EQ(requests, 3);
}

}  // namespace
}  // namespace gpupool::net
