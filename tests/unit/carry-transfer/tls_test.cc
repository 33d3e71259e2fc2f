// SPDX-License-Identifier: Apache-2.0
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
  Outcome<WrittenFile> get(const OpensslServer& server, const std::string& ca_pem) {
    HttpConnection connection(std::make_shared<TrustStore>(ca_pem));
    Protocol plain;
    Download download = wanted();
    download.url = server.url() + "/";
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
