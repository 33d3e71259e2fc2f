// SPDX-License-Identifier: Apache-2.0
#include "kube/config/kubeconfig.h"

#include <gtest/gtest.h>

#include "kube/config/base64.h"
#include "kube/config/rest_config.h"
#include "tests/support/manual_clock.h"
#include "tests/unit/kube/temp_dir.h"

namespace gpupool::kube {
namespace {

using namespace std::chrono_literals;

const std::string kCert = "-----BEGIN CERTIFICATE-----\nAA\n-----END CERTIFICATE-----\n";
const std::string kKey = "-----BEGIN PRIVATE KEY-----\nAA\n-----END PRIVATE KEY-----\n";

class KubeconfigTest : public ::testing::Test {
 protected:
  base::Result<RestConfig> load(const std::string& cluster, const std::string& user,
                                const std::string& extra = "") {
    const std::string text =
        "apiVersion: v1\nkind: Config\ncurrent-context: c\nclusters: [{name: k, cluster: {" + cluster +
        "}}]\nusers: [{name: u, user: {" + user + "}}]\ncontexts: [{name: c, context: {cluster: k, user: u" +
        extra + "}}]\n";
    return kubeconfig_config(dir_.write("sub/config", text), "", clock_);
  }

  test::TempDir dir_;
  test::ManualClock clock_;
};

TEST_F(KubeconfigTest, ReadsEverySetting) {
  const auto config = load(
      "server: 'https://h:6443/prefix/', insecure-skip-tls-verify: true, tls-server-name: n, "
      "proxy-url: 'socks5://p:1', disable-compression: true",
      "token: t, as: viewer, as-groups: [a, b]", ", namespace: ns");
  ASSERT_TRUE(config.has_value()) << config.error().message;
  EXPECT_EQ(config->endpoint.url, "https://h:6443/prefix");
  EXPECT_EQ(config->endpoint.proxy_url, "socks5://p:1");
  EXPECT_FALSE(config->endpoint.compression);
  EXPECT_EQ(config->impersonate_user, "viewer");
  EXPECT_EQ(config->impersonate_groups, (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(config->ns, "ns");
  EXPECT_EQ(*config->tokens->token({}), "t");
  const auto tls = config->endpoint.tls();
  ASSERT_TRUE(tls.has_value());
  EXPECT_TRUE(tls->insecure_skip_verify);
  EXPECT_EQ(tls->server_name, "n");
}

TEST_F(KubeconfigTest, DefaultsAreSafe) {
  const auto config = load("server: 'https://h'", "token: t");
  ASSERT_TRUE(config.has_value()) << config.error().message;
  EXPECT_TRUE(config->endpoint.compression);
  EXPECT_FALSE(config->endpoint.tls()->insecure_skip_verify);
}

TEST_F(KubeconfigTest, FilesAreBelowTheKubeconfigAndDataBeatsThem) {
  dir_.write("sub/pki/ca.pem", kCert + "# file\n");
  dir_.write("cert.pem", kCert);
  const auto config =
      load("server: 'https://h', certificate-authority: pki/ca.pem",
           "client-certificate: ../cert.pem, client-key: /nowhere, client-key-data: " + base64_encode(kKey));
  ASSERT_TRUE(config.has_value()) << config.error().message;
  EXPECT_EQ(config->tokens, nullptr);
  const auto tls = config->endpoint.tls();
  EXPECT_EQ(tls->ca_pem, kCert + "# file\n");
  EXPECT_EQ(tls->client_cert_pem, kCert);
  EXPECT_EQ(tls->client_key_pem, kKey);
  dir_.write("sub/pki/ca.pem", kCert);
  EXPECT_EQ(config->endpoint.tls()->ca_pem, kCert);
}

TEST_F(KubeconfigTest, TokenFileBeatsTokenAndIsReadAgain) {
  dir_.write("sub/tok", "from-file\n");
  const auto config = load("server: 'https://h'", "token: inline, tokenFile: tok");
  ASSERT_TRUE(config.has_value()) << config.error().message;
  EXPECT_EQ(*config->tokens->token({}), "from-file");
  dir_.write("sub/tok", "rotated");
  clock_.advance(61s);
  EXPECT_EQ(*config->tokens->token({}), "rotated");
}

TEST_F(KubeconfigTest, ExecIsRunBelowTheKubeconfig) {
  dir_.script(
      "sub/bin/plugin",
      R"(printf '{"apiVersion":"client.authentication.k8s.io/v1beta1","kind":"ExecCredential","status":{"token":"%s"}}' "$1$V")");
  const auto config = load("server: 'https://h'",
                           "exec: {apiVersion: client.authentication.k8s.io/v1beta1, command: ./bin/plugin, "
                           "args: [x], env: [{name: V, value: y}]}");
  ASSERT_TRUE(config.has_value()) << config.error().message;
  EXPECT_EQ(*config->tokens->token({}), "xy");
  EXPECT_TRUE(config->endpoint.tls().has_value());
}

TEST_F(KubeconfigTest, AnotherContextCanBeChosen) {
  const std::string path = dir_.write("two", R"(
current-context: a
clusters: [{name: ka, cluster: {server: https://a}}, {name: kb, cluster: {server: https://b}}]
users: [{name: u, user: {}}]
contexts: [{name: a, context: {cluster: ka, user: u}}, {name: b, context: {cluster: kb, user: u}}]
)");
  EXPECT_EQ(kubeconfig_config(path, "", clock_)->endpoint.url, "https://a");
  EXPECT_EQ(kubeconfig_config(path, "b", clock_)->endpoint.url, "https://b");
}

TEST_F(KubeconfigTest, SeveralFilesAreMergedFirstWins) {
  const auto one =
      dir_.write("one/config", "current-context: c\nclusters: [{name: k, cluster: {server: https://one}}]\n");
  const auto two = dir_.write("two/config", R"(
current-context: d
clusters: [{name: k, cluster: {server: https://two, tls-server-name: n}}]
users: [{name: u, user: {tokenFile: tok}}]
contexts: [{name: c, context: {cluster: k, user: u}}]
)");
  dir_.write("two/tok", "t");
  const auto config = kubeconfig_config(one + ":" + dir_.path("missing") + "::" + two, "", clock_);
  ASSERT_TRUE(config.has_value()) << config.error().message;
  EXPECT_EQ(config->endpoint.url, "https://one");
  EXPECT_EQ(config->endpoint.tls()->server_name, "") << "entries are not mixed";
  EXPECT_EQ(*config->tokens->token({}), "t") << "paths are below the file that names them";
}

}  // namespace
}  // namespace gpupool::kube
