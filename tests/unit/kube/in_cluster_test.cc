// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <filesystem>

#include "kube/config/rest_config.h"
#include "tests/support/manual_clock.h"
#include "tests/unit/kube/temp_dir.h"

namespace gpupool::kube {
namespace {

using namespace std::chrono_literals;

const std::string kCa = "-----BEGIN CERTIFICATE-----\nAA\n-----END CERTIFICATE-----\n";

class InCluster : public ::testing::Test {
 protected:
  InCluster() {
    dir_.write("ca.crt", kCa);
    dir_.write("token", "tok\n");
    dir_.write("namespace", "gpupool-system\n");
  }
  base::Result<RestConfig> load() { return in_cluster_config(dir_.root(), clock_); }

  test::TempDir dir_;
  test::ManualClock clock_;
  test::ScopedEnv port_{"KUBERNETES_SERVICE_PORT", "443"};
};

TEST_F(InCluster, ReadsTheServiceAccount) {
  const test::ScopedEnv host("KUBERNETES_SERVICE_HOST", "10.96.0.1");
  const auto config = load();
  ASSERT_TRUE(config.has_value()) << config.error().message;
  EXPECT_EQ(config->endpoint.url, "https://10.96.0.1:443");
  EXPECT_EQ(config->ns, "gpupool-system");
  EXPECT_EQ(*config->tokens->token({}), "tok");
  EXPECT_EQ(config->endpoint.tls()->ca_pem, kCa);
  dir_.write("token", "tok2");
  dir_.write("ca.crt", kCa + kCa);
  clock_.advance(61s);
  EXPECT_EQ(*config->tokens->token({}), "tok2");
  EXPECT_EQ(config->endpoint.tls()->ca_pem, kCa + kCa);
}

TEST_F(InCluster, PutsIpv6InBrackets) {
  const test::ScopedEnv host("KUBERNETES_SERVICE_HOST", "fd00::1");
  EXPECT_EQ(load()->endpoint.url, "https://[fd00::1]:443");
}

TEST_F(InCluster, SaysWhatIsMissing) {
  {
    const test::ScopedEnv host("KUBERNETES_SERVICE_HOST", nullptr);
    EXPECT_NE(load().error().message.find("KUBERNETES_SERVICE_HOST"), std::string::npos);
  }
  const test::ScopedEnv host("KUBERNETES_SERVICE_HOST", "10.96.0.1");
  for (const char* name : {"ca.crt", "token"}) {
    const std::string content = name == std::string("token") ? "tok" : kCa;
    std::filesystem::remove(dir_.path(name));
    const auto config = load();
    ASSERT_FALSE(config.has_value()) << name;
    EXPECT_NE(config.error().message.find(dir_.path(name)), std::string::npos) << config.error().message;
    dir_.write(name, content);
  }
  std::filesystem::remove(dir_.path("namespace"));
  EXPECT_EQ(load()->ns, "");
}

}  // namespace
}  // namespace gpupool::kube
