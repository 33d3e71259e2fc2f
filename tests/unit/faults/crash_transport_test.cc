// SPDX-License-Identifier: Apache-2.0
#include "faults/crash_transport.h"

#include <gtest/gtest.h>

#include <csignal>

#include "tests/unit/faults/server.h"

namespace gpupool::faults {
namespace {

// Writes what the server did to stderr, so that the test can read it after the process is dead.
class TellingServer final : public net::Transport {
 public:
  base::Result<net::HttpResponse> send(const net::HttpRequest& request, std::stop_token /*stop*/) override {
    std::fprintf(stderr, "[%s]", request.target.c_str());
    return net::HttpResponse{.status = 200};
  }
  base::Result<net::HttpResponse> stream(const net::HttpRequest& request, const net::BodySink& /*sink*/,
                                         std::stop_token stop) override {
    if (request.target.ends_with("watch=true")) return net::HttpResponse{.status = 200};
    return send(request, std::move(stop));
  }
};

void three_calls(CrashConfig config) {
  TellingServer server;
  base::Metrics metrics;
  CrashTransport transport(server, config, metrics);
  const auto take = [](std::string_view) { return true; };
  for (const auto* target : {"/1", "/2", "/3"}) {
    (void)transport.stream({.target = "/x?watch=true"}, take, {});
    if (std::string_view(target) == "/2") {
      (void)transport.stream({.target = target}, take, {});  // a list
    } else {
      (void)transport.send({.target = target}, {});
    }
  }
  std::fprintf(stderr, "alive");
}

TEST(CrashTransportDeathTest, BeforeTheSecondCallTheFirstIsDone) {
  EXPECT_EXIT(three_calls({2, false}), testing::KilledBySignal(SIGKILL), "^\\[/1\\]$");
}

TEST(CrashTransportDeathTest, AfterTheSecondCallItIsDone) {
  EXPECT_EXIT(three_calls({2, true}), testing::KilledBySignal(SIGKILL), "^\\[/1\\]\\[/2\\]$");
}

TEST(CrashTransportTest, WithoutACrashAllCallsAreDoneAndCounted) {
  test::Server server;
  base::Metrics metrics;
  CrashTransport transport(server, {}, metrics);
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(transport.send({.target = "/x"}, {}));
  EXPECT_EQ(server.served, 3);
  EXPECT_NE(metrics.expose().find("gpupool_faults_calls_total 3"), std::string::npos);
}

}  // namespace
}  // namespace gpupool::faults
