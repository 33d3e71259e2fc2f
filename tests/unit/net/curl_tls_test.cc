// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>

#include "net/curl_transport.h"
#include "net/http_server.h"
#include "tests/support/openssl_server.h"

namespace gpupool::net {
namespace {

using base::ErrorCode;
using test::OpensslServer;
using test::TestCertificates;
using testing::HasSubstr;

class CurlTls : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    certs_ = std::make_unique<TestCertificates>();
    certs_->make_authority("ca");
    certs_->make_authority("other-ca");
    certs_->make("server", "IP:127.0.0.1", "ca");
    certs_->make("renewed", "IP:127.0.0.1", "other-ca");
    certs_->make("named", "DNS:kubernetes.test", "ca");
    certs_->make("client", "DNS:client", "ca");
    certs_->make("stranger", "DNS:client", "other-ca");
  }
  static void TearDownTestSuite() { certs_.reset(); }

  static std::vector<std::string> with_cert(const std::string& name) {
    return {"-cert", certs_->cert_path(name), "-key", certs_->key_path(name)};
  }

  static base::Result<HttpResponse> get(const std::string& url, const TlsMaterial& material) {
    CurlTransport transport({.url = url, .tls = [&] { return material; }}, "test");
    return transport.send({.target = "/"}, {});
  }

  static std::unique_ptr<TestCertificates> certs_;
};

std::unique_ptr<TestCertificates> CurlTls::certs_;

TEST_F(CurlTls, TheGivenAuthorityIsTrustedAndNoOther) {
  const OpensslServer server(0, with_cert("server"));
  const auto trusted = get(server.url(), {.ca_pem = certs_->cert("ca")});
  ASSERT_TRUE(trusted) << trusted.error().message;
  EXPECT_EQ(trusted->status, 200);

  const auto wrong = get(server.url(), {.ca_pem = certs_->cert("other-ca")});
  ASSERT_FALSE(wrong);
  EXPECT_EQ(wrong.error().code, ErrorCode::kTransport);
  EXPECT_THAT(wrong.error().message, HasSubstr("certificate"));
  EXPECT_FALSE(get(server.url(), {}));  // only the system's CAs
  EXPECT_FALSE(get(server.url(), {.ca_pem = "no certificate"}));

  const auto unchecked = get(server.url(), {.insecure_skip_verify = true});
  EXPECT_TRUE(unchecked) << unchecked.error().message;
}

TEST_F(CurlTls, ABundleMayHoldSeveralAuthorities) {
  const OpensslServer server(0, with_cert("server"));
  EXPECT_TRUE(get(server.url(), {.ca_pem = certs_->cert("other-ca") + certs_->cert("ca")}));
}

TEST_F(CurlTls, TheClientsCertificateIsShown) {
  auto arguments = with_cert("server");
  arguments.insert(arguments.end(),
                   {"-Verify", "2", "-verify_return_error", "-CAfile", certs_->cert_path("ca")});
  const OpensslServer server(0, arguments);
  const std::string ca = certs_->cert("ca");
  const auto known =
      get(server.url(),
          {.ca_pem = ca, .client_cert_pem = certs_->cert("client"), .client_key_pem = certs_->key("client")});
  ASSERT_TRUE(known) << known.error().message;
  EXPECT_THAT(known->body, HasSubstr("Subject: CN=client"));

  EXPECT_FALSE(get(server.url(), {.ca_pem = ca}));
  EXPECT_FALSE(get(server.url(), {.ca_pem = ca,
                                  .client_cert_pem = certs_->cert("stranger"),
                                  .client_key_pem = certs_->key("stranger")}));
  EXPECT_FALSE(get(
      server.url(),
      {.ca_pem = ca, .client_cert_pem = certs_->cert("client"), .client_key_pem = certs_->key("stranger")}));
}

// The server has the right certificate only for this name, so the test also covers SNI.
TEST_F(CurlTls, TheServerNameReplacesTheUrlsHost) {
  auto arguments = with_cert("renewed");
  arguments.insert(arguments.end(), {"-servername", "kubernetes.test", "-cert2", certs_->cert_path("named"),
                                     "-key2", certs_->key_path("named")});
  const OpensslServer server(0, arguments);
  TlsMaterial material{.ca_pem = certs_->cert("ca")};
  EXPECT_FALSE(get(server.url(), material));
  material.server_name = "kubernetes.test";
  const auto named = get(server.url(), material);
  EXPECT_TRUE(named) << named.error().message;
  material.server_name = "other.test";
  EXPECT_FALSE(get(server.url(), material));
}

TEST_F(CurlTls, ARotatedAuthorityIsPickedUp) {
  auto server = std::make_unique<OpensslServer>(0, with_cert("server"));
  const int port = server->port();
  TlsMaterial material{.ca_pem = certs_->cert("ca")};
  CurlTransport transport({.url = server->url(), .tls = [&] { return material; }}, "test");
  const auto watch = [&] {
    return transport.stream({.target = "/"}, [](std::string_view) { return true; }, {});
  };
  ASSERT_TRUE(watch());
  ASSERT_TRUE(transport.send({.target = "/"}, {}));

  server.reset();
  server = std::make_unique<OpensslServer>(port, with_cert("renewed"));
  EXPECT_FALSE(watch());
  material.ca_pem = certs_->cert("other-ca");
  const auto rotated = watch();
  EXPECT_TRUE(rotated) << rotated.error().message;
  EXPECT_TRUE(transport.send({.target = "/"}, {}));
}

TEST_F(CurlTls, OurServerServesByTls) {
  const auto server = HttpServer::start(
      "127.0.0.1:0",
      {{"/", [](const ServerRequest& request) { return ServerResponse{.body = request.path}; }}},
      {.tls_pem = certs_->cert("server") + certs_->key("server")});
  ASSERT_TRUE(server) << server.error().message;
  const std::string address = "127.0.0.1:" + std::to_string((*server)->port());
  const auto answer = get("https://" + address, {.ca_pem = certs_->cert("ca")});
  ASSERT_TRUE(answer) << answer.error().message;
  EXPECT_EQ(answer->body, "/");
  EXPECT_FALSE(get("https://" + address, {.ca_pem = certs_->cert("other-ca")}));
  EXPECT_FALSE(get("http://" + address, {}));
}

TEST_F(CurlTls, OurServerDoesNotStartWithoutItsKey) {
  const auto server = HttpServer::start("127.0.0.1:0", {}, {.tls_pem = certs_->cert("server")});
  EXPECT_FALSE(server);
}

}  // namespace
}  // namespace gpupool::net
