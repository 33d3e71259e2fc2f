// SPDX-License-Identifier: Apache-2.0
#include "server/guard.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace gpupool::web {
namespace {

int status_for(const std::string& host, const std::string& site, const std::string& path = "/api/session") {
  net::ServerRequest request{.method = "GET", .path = path, .query = "", .headers = {{"host", host}}};
  if (!site.empty()) request.headers.push_back({"sec-fetch-site", site});
  const auto no = refused(request, {"127.0.0.1", "localhost", "[::1]", "gpus.example.com"});
  return no ? no->status : 200;
}

TEST(Guard, OnlyItsOwnNamesAreServed) {
  for (const char* host :
       {"127.0.0.1:8001", "127.0.0.1", "LOCALHOST:1", "[::1]:80", "[::1]", "gpus.example.com"})
    EXPECT_EQ(status_for(host, ""), 200) << host;
  for (const char* host : {"", "evil.example", "127.0.0.1.evil.example", "evil.example:8001", "[::2]:80",
                           "127.0.0.1@evil.example", "gpus.example.com."})
    EXPECT_EQ(status_for(host, ""), 421) << host;
}

TEST(Guard, OtherSitesMayNotAsk) {
  EXPECT_EQ(status_for("localhost", "same-origin"), 200);
  EXPECT_EQ(status_for("localhost", "none"), 200);
  EXPECT_EQ(status_for("localhost", "cross-site"), 403);
  EXPECT_EQ(status_for("localhost", "same-site"), 403);
  EXPECT_EQ(status_for("localhost", "cross-site", "/index.html"), 200);  // a link to the page
}

TEST(Guard, NothingForeignRuns) {
  std::string policy;
  for (const auto& header : protecting_headers())
    if (header.name == "Content-Security-Policy") policy = header.value;
  EXPECT_THAT(policy, testing::HasSubstr("default-src 'none'"));
  EXPECT_THAT(policy, testing::HasSubstr("script-src 'self';"));
  EXPECT_THAT(policy, testing::HasSubstr("frame-ancestors 'none'"));
  EXPECT_THAT(policy, testing::Not(testing::HasSubstr("unsafe")));
}

}  // namespace
}  // namespace gpupool::web
