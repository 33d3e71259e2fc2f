// SPDX-License-Identifier: Apache-2.0
#include "reader_server/reader_access.h"

#include <gtest/gtest.h>

#include "net/endpoint.h"
#include "tests/unit/web/played_api.h"

namespace gpupool::readers {
namespace {

kube::AccessQuestion logs_of(const std::string& ns) {
  return {.verb = "get", .group = "gpupool.dev", .resource = "gpujobs", .subresource = "log", .ns = ns};
}

TEST(ReaderAccess, AnswersAreRememberedByTokenAndRight) {
  int reviews = 0;
  test::PlayedApi api([&](const net::HttpRequest& request) {
    ++reviews;
    const bool yes = request.body.find("\"lab\"") != std::string::npos;
    EXPECT_NE(request.body.find(R"("subresource":"log")"), std::string::npos);
    return net::HttpResponse{.status = 201,
                             .body = std::string(R"({"status":{"allowed":)") + (yes ? "true}}" : "false}}")};
  });
  test::PlayedClient own([](const net::HttpRequest&) { return net::HttpResponse{.status = 404}; });
  base::SystemClock clock;
  base::Metrics metrics;
  ReaderAccess access(api, own.client, std::chrono::seconds(30), clock, metrics);
  EXPECT_TRUE(access.may_read("token", logs_of("lab"), "logs", {}));
  EXPECT_TRUE(access.may_read("token", logs_of("lab"), "logs", {}));
  EXPECT_EQ(reviews, 1);
  EXPECT_TRUE(access.may_read("other", logs_of("lab"), "logs", {}));
  EXPECT_EQ(reviews, 2);
  for (int i = 0; i < 2; ++i) {
    const auto no = access.may_read("token", logs_of("theirs"), "logs", {});
    ASSERT_FALSE(no);
    EXPECT_EQ(no.error().http_status, 403);
  }
  EXPECT_EQ(reviews, 4);  // a right that is given counts at once
}

TEST(ReaderAccess, WhoMayNotIsToldTheRight) {
  test::PlayedApi api([&](const net::HttpRequest& request) {
    EXPECT_NE(request.body.find(R"("name":"alice")"), std::string::npos);
    EXPECT_EQ(request.body.find("\"namespace\""), std::string::npos);
    return net::HttpResponse{.status = 201, .body = R"({"status":{"allowed":false}})"};
  });
  test::PlayedClient own([](const net::HttpRequest&) { return net::HttpResponse{.status = 404}; });
  base::SystemClock clock;
  base::Metrics metrics;
  ReaderAccess access(api, own.client, std::chrono::seconds(30), clock, metrics);
  const kube::AccessQuestion right{.verb = "get",
                                   .group = "gpupool.dev",
                                   .resource = "gpuledgers",
                                   .subresource = "payouts",
                                   .name = "alice"};
  const auto no = access.may_read("token", right, "payouts", {});
  ASSERT_FALSE(no);
  EXPECT_EQ(no.error().message,
            "you may not read payouts; needed is: verb get, apiGroup gpupool.dev, resource "
            "gpuledgers/payouts, resourceName alice");
}

TEST(WithoutIdentity, TheServerIsCheckedAndNothingIsSaidOfTheClient) {
  const net::Endpoint with{.url = "https://api", .tls = [] {
                             return net::TlsMaterial{
                                 .ca_pem = "ca", .client_cert_pem = "cert", .client_key_pem = "key"};
                           }};
  const auto without = net::without_identity(with);
  EXPECT_EQ(without.url, "https://api");
  EXPECT_EQ(without.tls().value(), (net::TlsMaterial{.ca_pem = "ca"}));
}

}  // namespace
}  // namespace gpupool::readers
