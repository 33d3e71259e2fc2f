// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <future>

#include "net/curl_transport.h"
#include "tests/support/scripted_server.h"

namespace gpupool::net {
namespace {

using test::ok;
using test::Peer;
using test::ScriptedServer;
using testing::StartsWith;

class CurlProxy : public testing::Test {
 protected:
  std::promise<std::string> seen_;
  ScriptedServer proxy_{[this](Peer& peer) {
    seen_.set_value(peer.read_request());
    peer.write(ok("by proxy"));
  }};
};

TEST_F(CurlProxy, AnExplicitProxyIsUsedForEveryHost) {
  ::setenv("no_proxy", "*", 1);
  CurlTransport transport({.url = "http://api.invalid:8080", .proxy_url = proxy_.url(), .tls = {}}, "test");
  const auto response = transport.send({.target = "/x"}, {});
  ::unsetenv("no_proxy");
  ASSERT_TRUE(response) << response.error().message;
  EXPECT_EQ(response->body, "by proxy");
  EXPECT_THAT(seen_.get_future().get(), StartsWith("GET http://api.invalid:8080/x HTTP/1.1\r\n"));
}

TEST_F(CurlProxy, HttpsGoesThroughATunnel) {
  CurlTransport transport({.url = "https://api.invalid:6443", .proxy_url = proxy_.url(), .tls = {}}, "test");
  const auto response = transport.send({.target = "/x"}, {});
  ASSERT_FALSE(response);  // there is no TLS server behind this tunnel
  EXPECT_EQ(response.error().code, base::ErrorCode::kTransport);
  EXPECT_THAT(seen_.get_future().get(), StartsWith("CONNECT api.invalid:6443 HTTP/1.1\r\n"));
}

TEST_F(CurlProxy, WithoutOneTheEnvironmentDecides) {
  ::setenv("http_proxy", proxy_.url().c_str(), 1);
  CurlTransport transport({.url = "http://api.invalid:8080", .tls = {}}, "test");
  const auto response = transport.send({.target = "/x"}, {});
  ::unsetenv("http_proxy");
  ASSERT_TRUE(response) << response.error().message;
  EXPECT_EQ(response->body, "by proxy");
}

// The proxy gets the name, not an address that this machine would have to resolve.
TEST(CurlSocks, TheProxyResolvesTheName) {
  std::promise<std::string> asked;
  const ScriptedServer proxy([&](Peer& peer) {
    peer.read_exactly(static_cast<unsigned char>(peer.read_exactly(2)[1]));  // version, methods (RFC 1928)
    peer.write(std::string_view("\x05\x00", 2));
    const std::string head = peer.read_exactly(5);  // version, connect, 0, address type, length of the name
    asked.set_value(head.substr(3, 1) + peer.read_exactly(static_cast<unsigned char>(head[4]) + 2U));
    peer.write(std::string_view("\x05\x00\x00\x01\x7f\x00\x00\x01\x00\x01", 10));
    peer.read_request();
    peer.write(ok("by socks"));
  });
  CurlTransport transport({.url = "http://api.invalid:256",
                           .proxy_url = "socks5://127.0.0.1:" + std::to_string(proxy.port()),
                           .tls = {}},
                          "test");
  const auto response = transport.send({.target = "/x"}, {});
  ASSERT_TRUE(response) << response.error().message;
  EXPECT_EQ(response->body, "by socks");
  EXPECT_EQ(asked.get_future().get(), std::string("\x03") + "api.invalid" + std::string("\x01\x00", 2));
}

}  // namespace
}  // namespace gpupool::net
