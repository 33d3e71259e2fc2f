// SPDX-License-Identifier: Apache-2.0
#include "kube/config/tls_files.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "tests/unit/kube/temp_dir.h"

namespace gpupool::kube {
namespace {

std::string pem(const std::string& kind, const std::string& content) {
  return "-----BEGIN " + kind + "-----\n" + content + "\n-----END " + kind + "-----\n";
}

class TlsFilesTest : public ::testing::Test {
 protected:
  test::TempDir dir_;
  const KubeData ca_{"f: clusters[c].certificate-authority", {}, dir_.write("ca", pem("CERTIFICATE", "ca1"))};
  const KubeData cert_{"f: users[u].client-certificate", {}, dir_.write("cert", pem("CERTIFICATE", "c1"))};
  const KubeData key_{"f: users[u].client-key", {}, dir_.write("key", pem("EC PRIVATE KEY", "k1"))};
  TlsFiles files_{ca_, cert_, key_, {}};
};

TEST_F(TlsFilesTest, ReadsAndNoticesChanges) {
  auto first = files_.material();
  ASSERT_TRUE(first.has_value()) << first.error().message;
  EXPECT_EQ(first->ca_pem, pem("CERTIFICATE", "ca1"));
  EXPECT_EQ(first->client_key_pem, pem("EC PRIVATE KEY", "k1"));
  EXPECT_EQ(*files_.material(), *first);
  dir_.write("ca", pem("CERTIFICATE", "ca2"));  // of the same size
  EXPECT_EQ(files_.material()->ca_pem, pem("CERTIFICATE", "ca2"));
}

TEST_F(TlsFilesTest, ErrorsNameKeyAndFile) {
  dir_.write("cert", "-----BEGIN CERTIFICATE-----\ncut");
  const auto cut = files_.material();
  ASSERT_FALSE(cut.has_value());
  EXPECT_NE(cut.error().message.find("users[u].client-certificate: " + dir_.path("cert")), std::string::npos);
  dir_.write("cert", pem("CERTIFICATE", "c2"));
  std::filesystem::remove(dir_.path("key"));
  const auto gone = files_.material();
  ASSERT_FALSE(gone.has_value());
  EXPECT_EQ(gone.error().code, base::ErrorCode::kIo);
  EXPECT_NE(gone.error().message.find("users[u].client-key: " + dir_.path("key")), std::string::npos);
  dir_.write("key", pem("PRIVATE KEY", "k2"));
  EXPECT_EQ(files_.material()->client_cert_pem, pem("CERTIFICATE", "c2"));
}

TEST(TlsData, InlineNeedsNoFile) {
  net::TlsMaterial settings;
  settings.server_name = "n";
  TlsFiles files({"w", pem("CERTIFICATE", "x"), "/nowhere"}, {}, {}, settings);
  const auto material = files.material();
  ASSERT_TRUE(material.has_value());
  EXPECT_EQ(material->ca_pem, pem("CERTIFICATE", "x"));
  EXPECT_EQ(material->server_name, "n");
}

}  // namespace
}  // namespace gpupool::kube
