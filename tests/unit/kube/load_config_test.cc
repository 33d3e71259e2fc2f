// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "kube/config/rest_config.h"
#include "tests/support/manual_clock.h"
#include "tests/unit/kube/temp_dir.h"

namespace gpupool::kube {
namespace {

std::string config_for(const std::string& host) {
  return "current-context: c\nclusters: [{name: k, cluster: {server: 'https://" + host +
         "'}}]\nusers: [{name: u, user: {token: t}}]\ncontexts: [{name: c, context: {cluster: k, user: "
         "u}}]\n";
}

class LoadConfig : public ::testing::Test {
 protected:
  std::string url(const ConfigSource& source) {
    const auto config = load_config(source, clock_);
    return config ? config->endpoint.url : "error: " + config.error().message;
  }

  test::TempDir dir_;
  test::ManualClock clock_;
  const std::string flag_ = dir_.write("flag", config_for("flag"));
  const std::string env_ = dir_.write("env", config_for("env"));
  const std::string home_ = dir_.write(".kube/config", config_for("home"));
  test::ScopedEnv host_{"KUBERNETES_SERVICE_HOST", nullptr};
  test::ScopedEnv home_env_{"HOME", dir_.root().c_str()};
};

TEST_F(LoadConfig, FlagThenVariableThenHome) {
  {
    const test::ScopedEnv env("KUBECONFIG", env_.c_str());
    EXPECT_EQ(url({.kubeconfig = flag_}), "https://flag");
    EXPECT_EQ(url({}), "https://env");
  }
  const test::ScopedEnv env("KUBECONFIG", nullptr);
  EXPECT_EQ(url({}), "https://home");
}

TEST_F(LoadConfig, APodsOwnAccountComesBeforeHome) {
  const test::ScopedEnv env("KUBECONFIG", nullptr);
  const test::ScopedEnv host("KUBERNETES_SERVICE_HOST", "not a host");
  const test::ScopedEnv port("KUBERNETES_SERVICE_PORT", "443");
  EXPECT_NE(url({}).find("KUBERNETES_SERVICE_HOST"), std::string::npos);
  EXPECT_EQ(url({.context = "c"}), "https://home");
}

TEST_F(LoadConfig, AWrongFileIsNotPassedOver) {
  const test::ScopedEnv env("KUBECONFIG", dir_.path("none").c_str());
  EXPECT_EQ(url({}), "error: $KUBECONFIG: kubeconfig: " + dir_.path("none") + ": No such file or directory");
  EXPECT_EQ(url({.kubeconfig = dir_.path("no2")}),
            "error: --kubeconfig: kubeconfig: " + dir_.path("no2") + ": No such file or directory");
}

TEST_F(LoadConfig, NothingAtAllSaysWhatWasTried) {
  const test::ScopedEnv env("KUBECONFIG", nullptr);
  const test::ScopedEnv home("HOME", "/nonexistent");
  const std::string message = url({});
  for (const char* tried : {"--kubeconfig", "$KUBECONFIG", "KUBERNETES_SERVICE_HOST", "~/.kube/config"}) {
    EXPECT_NE(message.find(tried), std::string::npos) << message;
  }
}

}  // namespace
}  // namespace gpupool::kube
