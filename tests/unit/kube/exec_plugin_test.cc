// SPDX-License-Identifier: Apache-2.0
#include "kube/config/exec_plugin.h"

#include <gtest/gtest.h>

#include "tests/support/manual_clock.h"
#include "tests/unit/kube/temp_dir.h"

namespace gpupool::kube {
namespace {

using base::ErrorCode;
using namespace std::chrono_literals;

constexpr const char* kV1 = "client.authentication.k8s.io/v1";

std::string answer(const std::string& status, const std::string& version = kV1) {
  return R"({"apiVersion":")" + version + R"(","kind":"ExecCredential","status":)" + status + "}";
}

class ExecPluginTest : public ::testing::Test {
 protected:
  // A plugin that counts its runs in a file and returns tokens t1, t2, ...
  std::string counting(const std::string& extra = "") const {
    return dir_.script("plugin", "echo run >> " + dir_.path("runs") + "\nn=$(wc -l < " + dir_.path("runs") +
                                     ")\nprintf '%s' '" + answer(R"({"token":"t'$n'")" + extra + "}") +
                                     "'\n");
  }
  ExecPlugin plugin(const std::string& command, const std::string& hint = "") {
    return {"kc: users[u]",
            {.api_version = kV1, .command = command, .install_hint = hint},
            exec_info_json(kV1, nullptr, ""),
            clock_};
  }

  test::TempDir dir_;
  test::ManualClock clock_;
};

TEST_F(ExecPluginTest, RunsOnceAndAgainAfterA401) {
  auto tokens = plugin(counting());
  EXPECT_EQ(*tokens.token({}), "t1");
  EXPECT_EQ(*tokens.token({}), "t1");
  tokens.invalidate("another");
  EXPECT_EQ(*tokens.token({}), "t1");
  tokens.invalidate("t1");
  EXPECT_EQ(*tokens.token({}), "t2");
}

TEST_F(ExecPluginTest, RunsAgainBeforeTheCredentialExpires) {
  // ManualClock starts at 03:04:05.
  auto tokens = plugin(counting(R"(,"expirationTimestamp":"2026-01-02T03:05:05Z")"));
  EXPECT_EQ(*tokens.token({}), "t1");
  clock_.advance(45s);
  EXPECT_EQ(*tokens.token({}), "t1");
  clock_.advance(6s);
  EXPECT_EQ(*tokens.token({}), "t2");
}

TEST_F(ExecPluginTest, AFailedRefreshKeepsTheTokenWhileItIsValid) {
  auto tokens = plugin(counting(R"(,"expirationTimestamp":"2026-01-02T03:05:05Z")"));
  EXPECT_EQ(*tokens.token({}), "t1");
  dir_.script("plugin", "exit 1");
  clock_.advance(55s);
  EXPECT_EQ(*tokens.token({}), "t1");
  clock_.advance(6s);
  EXPECT_FALSE(tokens.token({}).has_value());
}

TEST_F(ExecPluginTest, ARejectedTokenIsNotGivenAgain) {
  auto tokens = plugin(counting());
  EXPECT_EQ(*tokens.token({}), "t1");
  dir_.script("plugin", "echo first >&2; echo no session >&2; exit 1");
  tokens.invalidate("t1");
  const auto failed = tokens.token({});
  ASSERT_FALSE(failed.has_value());
  EXPECT_EQ(failed.error().message,
            "kc: users[u].exec: " + dir_.path("plugin") + " exited with 1: no session");
}

TEST_F(ExecPluginTest, AMissingCommandComesWithItsHint) {
  auto tokens = plugin("gpupool-no-such-plugin", "install it with: apt install x");
  const auto failed = tokens.token({});
  ASSERT_FALSE(failed.has_value());
  EXPECT_EQ(failed.error().code, ErrorCode::kIo);
  EXPECT_EQ(
      failed.error().message,
      "kc: users[u].exec: gpupool-no-such-plugin: No such file or directory; install it with: apt install x");
}

TEST_F(ExecPluginTest, ThePluginSeesItsInfoArgumentsAndEnvironment) {
  const std::string command = dir_.script(
      "plugin",
      R"sh(printf '%s' '{"apiVersion":"client.authentication.k8s.io/v1","kind":"ExecCredential","status":{"token":"'"$1-$EXTRA-$(echo "$KUBERNETES_EXEC_INFO" | tr -d '"')"'"}}'
)sh");
  ExecPlugin tokens("w", {.api_version = kV1, .command = command, .args = {"a b"}, .env = {{"EXTRA", "e"}}},
                    exec_info_json(kV1, nullptr, ""), clock_);
  EXPECT_EQ(
      *tokens.token({}),
      "a b-e-{apiVersion:client.authentication.k8s.io/v1,kind:ExecCredential,spec:{interactive:false}}");
}

TEST_F(ExecPluginTest, ATimeoutIsAnError) {
  ExecPlugin tokens("w", {.api_version = kV1, .command = dir_.script("plugin", "exec sleep 600")}, "{}",
                    clock_, 50ms);
  EXPECT_EQ(tokens.token({}).error().code, ErrorCode::kTimeout);
}

TEST_F(ExecPluginTest, GivesAClientCertificate) {
  const std::string cert = "-----BEGIN CERTIFICATE-----\\nAA\\n-----END CERTIFICATE-----\\n";
  const std::string key = "-----BEGIN PRIVATE KEY-----\\nAA\\n-----END PRIVATE KEY-----\\n";
  dir_.write("out",
             answer(R"({"clientCertificateData":")" + cert + R"(","clientKeyData":")" + key + R"("})"));
  auto tokens = plugin(dir_.script("plugin", "cat " + dir_.path("out")));
  net::TlsMaterial material;
  ASSERT_TRUE(tokens.add_certificate(material).has_value());
  EXPECT_EQ(material.client_cert_pem, "-----BEGIN CERTIFICATE-----\nAA\n-----END CERTIFICATE-----\n");
  EXPECT_EQ(material.client_key_pem, "-----BEGIN PRIVATE KEY-----\nAA\n-----END PRIVATE KEY-----\n");
  EXPECT_EQ(*tokens.token({}), "");
}

TEST(ExecCredential, RefusesWhatIsNotWhole) {
  EXPECT_TRUE(parse_exec_credential(answer(R"({"token":"t"})"), kV1).has_value());
  for (const std::string& text :
       {std::string(""), std::string("token"), answer("{}"), answer("null"),
        answer(R"({"token":"t"})", "client.authentication.k8s.io/v1beta1"),
        answer(R"({"token":"t","clientKeyData":"k"})"),
        answer(R"({"clientCertificateData":"c","clientKeyData":"k"})"),
        std::string(
            R"({"apiVersion":"client.authentication.k8s.io/v1","kind":"Pod","status":{"token":"t"}})")}) {
    const auto credential = parse_exec_credential(text, kV1);
    ASSERT_FALSE(credential.has_value()) << text;
    EXPECT_EQ(credential.error().code == ErrorCode::kParse ||
                  credential.error().code == ErrorCode::kInvalidArgument,
              true);
  }
}

TEST(ExecInfo, ShowsTheClusterIfAsked) {
  KubeCluster cluster;
  cluster.server = "https://h:1";
  cluster.tls_server_name = "n";
  cluster.insecure_skip_tls_verify = true;
  EXPECT_EQ(
      exec_info_json("v", &cluster, "foo"),
      R"({"apiVersion":"v","kind":"ExecCredential","spec":{"cluster":{"server":"https://h:1","tls-server-name":"n",)"
      R"("insecure-skip-tls-verify":true,"certificate-authority-data":"Zm9v"},"interactive":false}})");
}

}  // namespace
}  // namespace gpupool::kube
