// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <filesystem>

#include "kube/config/rest_config.h"
#include "tests/support/manual_clock.h"
#include "tests/unit/kube/temp_dir.h"

namespace gpupool::kube {
namespace {

// Each error must name the file and the key.
class KubeconfigErrors : public ::testing::Test {
 protected:
  std::string error_of(const std::string& text, const std::string& context = "") {
    const auto config = kubeconfig_config(dir_.write("kc", text), context, clock_);
    return config ? "no error" : config.error().message;
  }
  std::string error_with(const std::string& cluster, const std::string& user) {
    return error_of("current-context: c\nclusters: [{name: k, cluster: {" + cluster +
                    "}}]\nusers: [{name: u, user: {" + user +
                    "}}]\ncontexts: [{name: c, context: {cluster: k, user: u}}]\n");
  }
  void expect(const std::string& message, const std::string& part) const {
    EXPECT_NE(message.find(part), std::string::npos) << message;
    EXPECT_NE(message.find(dir_.path("kc")), std::string::npos) << message;
  }

  test::TempDir dir_;
  test::ManualClock clock_;
  const std::string server_ = "server: 'https://h'";
};

TEST_F(KubeconfigErrors, TheFile) {
  expect(error_of(""), "is empty");
  expect(error_of("# nothing\n"), "is empty");
  expect(error_of("a: [b\nc"), "is not YAML");
  expect(error_of("just text"), "no mapping");
  expect(error_of("kind: Pod"), "kind is 'Pod'");
  expect(error_of("clusters: {a: b}"), "clusters is not a list");
  expect(error_of("clusters: [x]"), "clusters has an entry that is not a mapping");
  expect(error_of("users: [{name: u}]"), "users[u] has no 'user'");
  expect(error_of("users: [{name: u, user: text}]"), "users[u] is not a mapping");
  expect(error_of("users: [{user: {}}]"), "users has an entry without a name");
  expect(error_of("users: [{name: u, user: {}}, {name: u, user: {}}]"), "users[u] is there twice");
  const auto directory = kubeconfig_config(dir_.root(), "", clock_);
  EXPECT_NE(directory.error().message.find("is a directory"), std::string::npos);
}

TEST_F(KubeconfigErrors, ContextClusterAndUser) {
  const std::string context = "contexts: [{name: c, context: {cluster: k, user: u}}]\n";
  expect(error_of(context), "current-context is not set");
  expect(error_of(context + "current-context: x"), "no context 'x' (there are: c)");
  expect(error_of(context, "y"), "no context 'y'");
  expect(error_of(context, "c"), "contexts[c]: no cluster 'k'");
  expect(error_of(context + "clusters: [{name: k, cluster: {server: 'https://h'}}]", "c"),
         "contexts[c]: no user 'u'");
  expect(error_of("contexts: [{name: c, context: {user: u}}]", "c"), "contexts[c] names no cluster");
}

TEST_F(KubeconfigErrors, TheCluster) {
  expect(error_with("certificate-authority: x", ""), "clusters[k].server is missing");
  expect(error_with("server: 'h:6443'", ""), "clusters[k].server is 'h:6443': it must begin with https://");
  expect(error_with("server: 'ftp://h'", ""), "clusters[k].server is 'ftp://h'");
  expect(error_with("server: 'https://'", ""), "has no host");
  expect(error_with("server: 'https://u:p@h'", ""), "clusters[k].server is not the URL");
  expect(error_with(server_ + ", proxy-url: 'h:1'", ""), "clusters[k].proxy-url must begin with");
  expect(error_with(server_ + ", insecure-skip-tls-verify: maybe", ""),
         "insecure-skip-tls-verify is 'maybe'");
  expect(error_with(server_ + ", certificate-authority-data: '!'", ""),
         "clusters[k].certificate-authority-data is not base64");
  expect(error_with(server_ + ", certificate-authority-data: Zm9v", ""),
         "clusters[k].certificate-authority-data holds no complete PEM");
  expect(error_with(server_ + ", certificate-authority: gone.pem", ""),
         "clusters[k].certificate-authority: " + dir_.path("gone.pem"));
  expect(error_with(server_ + ", certificate-authority: x, insecure-skip-tls-verify: true", ""),
         "clusters[k] has both");
}

TEST_F(KubeconfigErrors, TheUser) {
  expect(error_with(server_, "username: u, password: p"), "users[u].username");
  expect(error_with(server_, "auth-provider: {name: gcp}"), "users[u].auth-provider");
  expect(error_with(server_, "client-certificate: a"),
         "users[u] has only one of client-certificate and client-key");
  expect(error_with(server_, "tokenFile: gone"), "users[u].tokenFile: " + dir_.path("gone"));
  expect(error_with(server_, "token: {a: b}"), "users[u].token is not a string");
  expect(error_with(server_, "as-groups: [g]"), "users[u] has as-groups without as");
  expect(error_with(server_, "as: a, as-uid: b"), "as-uid");
  expect(error_with(server_, "exec: {apiVersion: client.authentication.k8s.io/v1}"),
         "users[u].exec.command is missing");
  expect(error_with(server_, "exec: {apiVersion: client.authentication.k8s.io/v1alpha1, command: x}"),
         "users[u].exec.apiVersion is");
  expect(
      error_with(server_,
                 "exec: {apiVersion: client.authentication.k8s.io/v1, command: x, interactiveMode: Always}"),
      "interactiveMode");
}

TEST_F(KubeconfigErrors, NoTruncationIsAccepted) {
  const std::string whole =
      "current-context: c\nclusters:\n- name: k\n  cluster:\n    server: https://h\nusers:\n- name: u\n  "
      "user:\n"
      "    token: t\ncontexts:\n- name: c\n  context:\n    cluster: k\n    user: u\n";
  ASSERT_EQ(error_of(whole), "no error");
  for (std::size_t length = 0; length + 2 < whole.size(); ++length) {
    expect(error_of(whole.substr(0, length)), "kubeconfig");
  }
}

}  // namespace
}  // namespace gpupool::kube
