// SPDX-License-Identifier: Apache-2.0
#include <filesystem>
#include <fstream>

#include "tests/support/openssl_server.h"
#include "tests/unit/carry-transfer/download_case.h"

namespace gpupool::carry {
namespace {

using test::OpensslServer;
using test::TestCertificates;
using testing::AnyOf;
using testing::HasSubstr;

class TransferTls : public DownloadCase {
 protected:
  static void SetUpTestSuite() {
    certificates_ = std::make_unique<TestCertificates>();
    certificates_->make_authority("ca");
    certificates_->make_authority("other-ca");
    certificates_->make("server", "IP:127.0.0.1", "ca");
    certificates_->make("named", "DNS:data.test", "ca");
  }
  static void TearDownTestSuite() { certificates_.reset(); }

  TransferTls() {
    serve([](test::Peer&, const std::string&, int) {});
  }
  static std::vector<std::string> with(const std::string& name) {
    return {"-cert", certificates_->cert_path(name), "-key", certificates_->key_path(name)};
  }
  Outcome<WrittenFile> get(const OpensslServer& server, const std::string& ca_pem,
                           const std::string& path = "/") {
    HttpConnection connection(std::make_shared<TrustStore>(ca_pem));
    Protocol plain;
    Download download = wanted();
    download.url = server.url() + path;
    return carry::download(connection, plain, download, root_.get(), budget_, waiting_, {});
  }

  static std::unique_ptr<TestCertificates> certificates_;
};

std::unique_ptr<TestCertificates> TransferTls::certificates_;

TEST_F(TransferTls, TheAuthoritiesOfTheSecretAreTrusted) {
  const OpensslServer server(0, with("server"));
  const auto written = get(server, certificates_->cert("other-ca") + certificates_->cert("ca"));
  ASSERT_TRUE(written) << written.error().message;
  EXPECT_GT(written->bytes, 0);
}

TEST_F(TransferTls, OthersFailAtOnce) {
  const OpensslServer server(0, with("server"));
  for (const std::string& ca : {std::string(), certificates_->cert("other-ca")}) {
    const auto written = get(server, ca);
    ASSERT_FALSE(written);
    EXPECT_EQ(written.error().kind, FailureKind::kInvalid);
    EXPECT_THAT(written.error().message, HasSubstr("certificate"));
  }
  EXPECT_TRUE(clock_.waits().empty());
}

TEST_F(TransferTls, AnotherNameFailsAtOnce) {
  const OpensslServer server(0, with("named"));
  EXPECT_EQ(get(server, certificates_->cert("ca")).error().kind, FailureKind::kInvalid);
  EXPECT_TRUE(clock_.waits().empty());
}

TEST_F(TransferTls, NoRedirectToHttp) {
  const test::TemporaryFolder pages;
  std::ofstream(pages.path() + "/moved")
      << answer_of("302 Found", "Location: " + server_->url() + "/x\r\n", "");
  std::ofstream(pages.path() + "/stays") << answer_of("302 Found", "Location: page\r\n", "");
  std::ofstream(pages.path() + "/page") << test::ok("data");
  auto arguments = with("server");
  arguments.push_back("-HTTP");  // files are whole answers
  const auto before = std::filesystem::current_path();
  std::filesystem::current_path(pages.path());  // the server's folder
  const OpensslServer server(0, arguments);
  std::filesystem::current_path(before);
  const auto refused = get(server, certificates_->cert("ca"), "/moved");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind, FailureKind::kInvalid);
  EXPECT_THAT(refused.error().message,
              HasSubstr("from https to " + server_->url() + "/x, which is not safe"));
  EXPECT_TRUE(requests().empty());
  EXPECT_TRUE(get(server, certificates_->cert("ca"), "/stays"));
}

TEST_F(TransferTls, CaCrtMustHoldCertificates) {
  const OpensslServer server(0, with("server"));
  for (const std::string& ca :
       {std::string("none"),
        certificates_->cert("ca") + "-----BEGIN CERTIFICATE-----\nx\n-----END CERTIFICATE-----\n"}) {
    const auto written = get(server, ca);
    ASSERT_FALSE(written);
    EXPECT_EQ(written.error().kind, FailureKind::kInvalid);
    EXPECT_THAT(written.error().message, HasSubstr("ca.crt"));
  }
}

TEST_F(TransferTls, TheSystemsAuthoritiesAreKept) {
  const TrustStore with_more(certificates_->cert("ca"));
  const TrustStore alone("");
  ASSERT_TRUE(with_more.get());
  EXPECT_NE(*with_more.get(), nullptr);
  EXPECT_EQ(*with_more.get(), *with_more.get());  // loaded once
  EXPECT_TRUE(alone.get());
}

}  // namespace
}  // namespace gpupool::carry
