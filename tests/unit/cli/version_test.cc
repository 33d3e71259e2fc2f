// SPDX-License-Identifier: Apache-2.0
#include "general/version.h"

#include <gtest/gtest.h>

#include "tests/unit/cli/played_server.h"

namespace gpupool {
namespace {

command::Registry with_version() {
  command::Registry registry;
  registry.add("x", general::make_version("1.2.3"));
  return registry;
}

TEST(Version, AsksTheServerUnlessTold) {
  test::PlayedServer server([](const net::HttpRequest&) {
    return net::HttpResponse{.status = 200, .body = R"({"gitVersion": "v1.30.2\u001b[2J"})"};
  });
  EXPECT_EQ(test::run_line(with_version(), "version --client").out, "gpupool: 1.2.3\n");
  EXPECT_EQ(test::run_line(with_version(), "version", &server).out,
            "gpupool: 1.2.3\nKubernetes: v1.30.2 [2J\n");
  EXPECT_EQ(test::run_line(with_version(), "version -o json", &server).out,
            "{\"apiVersion\":\"cli.gpupool.dev/v1\",\"kind\":\"Version\",\"client\":\"1.2.3\","
            "\"kubernetes\":\"v1.30.2\\u001b[2J\"}\n");
  EXPECT_EQ(server.calls(), (std::vector<std::string>{"GET /version", "GET /version"}));
}

TEST(Version, FailsWithTheServersWords) {
  test::PlayedServer server([](const net::HttpRequest&) {
    return net::HttpResponse{.status = 403,
                             .body = R"({"kind": "Status", "reason": "Forbidden", "message": "not you"})"};
  });
  const auto ran = test::run_line(with_version(), "version", &server);
  EXPECT_EQ(ran.code, 1);
  EXPECT_EQ(ran.out, "");
  EXPECT_EQ(ran.err, "Error from server (Forbidden): not you\n");
}

}  // namespace
}  // namespace gpupool
