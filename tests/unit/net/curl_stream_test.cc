// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <latch>
#include <thread>

#include "base/clock.h"
#include "net/curl_transport.h"
#include "tests/support/scripted_server.h"

namespace gpupool::net {
namespace {

using base::ErrorCode;
using test::ok;
using test::Peer;
using test::ScriptedServer;
using namespace std::chrono_literals;

constexpr const char* kChunked = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";

std::string chunk(const std::string& data) {
  std::array<char, 16> size{};
  std::snprintf(size.data(), size.size(), "%zx\r\n", data.size());
  return size.data() + data + "\r\n";
}

// For a slow server.
void pause(base::Duration how_long) { base::SystemClock().sleep_for(how_long, {}); }

const HttpRequest kWatch{.target = "/watch", .timeout = std::nullopt};

base::Result<HttpResponse> stream(const ScriptedServer& server, const HttpRequest& request,
                                  const BodySink& sink, std::stop_token stop = {}) {
  CurlTransport transport({.url = server.url(), .tls = {}}, "test");
  return transport.stream(request, sink, std::move(stop));
}

TEST(CurlStream, DeliversPiecesUntilTheServerEnds) {
  const ScriptedServer server([](Peer& peer) {
    EXPECT_EQ(peer.read_request().find("Accept-Encoding"), std::string::npos);
    peer.write(kChunked);
    for (const char c : chunk("one\n") + chunk("two\n") + "0\r\n\r\n") peer.write({&c, 1});
  });
  std::string all;
  const auto response = stream(server, kWatch, [&](std::string_view piece) { return all += piece, true; });
  ASSERT_TRUE(response) << response.error().message;
  EXPECT_EQ(response->status, 200);
  EXPECT_EQ(response->body, "");
  EXPECT_EQ(all, "one\ntwo\n");
}

TEST(CurlStream, EachPieceArrivesBeforeTheNextIsSent) {
  std::latch first_seen(1);
  const ScriptedServer server([&](Peer& peer) {
    peer.read_request();
    peer.write(kChunked + chunk("first\n"));
    first_seen.wait();
    peer.write(chunk("second\n") + "0\r\n\r\n");
  });
  std::string all;
  const auto response = stream(server, kWatch, [&](std::string_view piece) {
    all += piece;
    if (all == "first\n") first_seen.count_down();
    return true;
  });
  EXPECT_TRUE(response);
  EXPECT_EQ(all, "first\nsecond\n");
}

TEST(CurlStream, AnErrorsBodyIsReturnedAndNotStreamed) {
  const ScriptedServer server([](Peer& peer) {
    peer.read_request();
    peer.write("HTTP/1.1 410 Gone\r\nContent-Length: 6\r\n\r\nstatus");
  });
  const auto response = stream(server, kWatch, [](std::string_view) { return ADD_FAILURE(), true; });
  ASSERT_TRUE(response);
  EXPECT_EQ(response->status, 410);
  EXPECT_EQ(response->body, "status");
}

TEST(CurlStream, OfAnEndlessErrorOneMebibyteIsKept) {
  const ScriptedServer server([](Peer& peer) {
    peer.read_request();
    peer.write("HTTP/1.1 500 X\r\nTransfer-Encoding: chunked\r\n\r\n");
    while (peer.write(chunk(std::string(10'000, 'e')))) {
    }
  });
  const auto response = stream(server, kWatch, [](std::string_view) { return true; });
  ASSERT_TRUE(response) << response.error().message;
  EXPECT_EQ(response->status, 500);
  EXPECT_EQ(response->body.size(), std::size_t{1} << 20);
}

TEST(CurlStream, ATruncatedStreamIsAnError) {
  const ScriptedServer server([](Peer& peer) {
    peer.read_request();
    peer.write(kChunked + chunk("one\n"));
  });
  std::string all;
  const auto response = stream(server, kWatch, [&](std::string_view piece) { return all += piece, true; });
  ASSERT_FALSE(response);
  EXPECT_EQ(response.error().code, ErrorCode::kTransport);
  EXPECT_EQ(all, "one\n");
}

TEST(CurlStream, TheReaderMayEndIt) {
  const ScriptedServer server([](Peer& peer) {
    peer.read_request();
    peer.write(kChunked + chunk("one\n"));
    peer.wait_until_client_closes();
  });
  const auto response = stream(server, kWatch, [](std::string_view) { return false; });
  ASSERT_FALSE(response);
  EXPECT_EQ(response.error().code, ErrorCode::kCancelled);
}

TEST(CurlStream, WhatTheReaderThrowsComesOut) {
  const ScriptedServer server([](Peer& peer) {
    peer.read_request();
    peer.write(kChunked + chunk("one\n"));
    peer.wait_until_client_closes();
  });
  EXPECT_THROW(
      (void)stream(server, kWatch, [](std::string_view) -> bool { throw std::runtime_error("reader"); }),
      std::runtime_error);
}

// libcurl's first timer fires after 200 ms, the next one after 10 s; in between only the stop can end the
// call.
TEST(CurlStream, AStopEndsItWhileTheServerIsSilent) {
  const ScriptedServer server([](Peer& peer) {
    peer.read_request();
    peer.write(kChunked + chunk("one\n"));
    peer.wait_until_client_closes();
  });
  std::latch begun(1);
  std::jthread watch([&](std::stop_token stop) {
    const auto response =
        stream(server, kWatch, [&](std::string_view) { return begun.count_down(), true; }, stop);
    ASSERT_FALSE(response);
    EXPECT_EQ(response.error().code, ErrorCode::kCancelled);
  });
  begun.wait();
  pause(500ms);
  const auto asked = std::chrono::steady_clock::now();
  watch.request_stop();
  watch.join();
  EXPECT_LT(std::chrono::steady_clock::now() - asked, 5s);
}

TEST(CurlStream, SilenceOverTheIdleLimitIsATimeout) {
  const ScriptedServer server([](Peer& peer) {
    peer.read_request();
    peer.write(kChunked + chunk("one\n"));
    peer.wait_until_client_closes();
  });
  HttpRequest request = kWatch;
  request.idle_timeout = 500ms;  // the first piece must arrive within this time
  std::string all;
  const auto response = stream(server, request, [&](std::string_view piece) { return all += piece, true; });
  ASSERT_FALSE(response);
  EXPECT_EQ(response.error().code, ErrorCode::kTimeout);
  EXPECT_EQ(all, "one\n");
}

TEST(CurlStream, BytesKeepItAliveBeyondTheIdleLimit) {
  const ScriptedServer server([](Peer& peer) {
    peer.read_request();
    peer.write(kChunked);
    for (int i = 0; i < 15; ++i) {
      pause(100ms);
      peer.write(chunk("x"));
    }
    peer.write("0\r\n\r\n");
  });
  HttpRequest request = kWatch;
  request.idle_timeout = 1s;  // less than the 1.5 s of the whole stream
  const auto response = stream(server, request, [](std::string_view) { return true; });
  EXPECT_TRUE(response) << response.error().message;
}

}  // namespace
}  // namespace gpupool::net
