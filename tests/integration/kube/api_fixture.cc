// SPDX-License-Identifier: Apache-2.0
#include "tests/integration/kube/api_fixture.h"

#include <cstdlib>
#include <random>

namespace gpupool::test {

void ApiTest::SetUp() {
  const char* path = std::getenv("TEST_KUBECONFIG");
  ASSERT_NE(path, nullptr) << "TEST_KUBECONFIG must name the kubeconfig of a running API server";
  auto config = kube::kubeconfig_config(path, "", clock_);
  ASSERT_TRUE(config.has_value()) << config.error().message;
  config_ = std::move(*config);
  transport_ = std::make_unique<net::CurlTransport>(config_.endpoint, "gpupool-test");
  client_ = client_as(config_.tokens.get());

  const std::string name = "kube-test-" + std::to_string(std::random_device{}());
  const auto made = client_->create(kNamespace, "", R"({"metadata":{"name":")" + name + R"("}})", {});
  ASSERT_TRUE(made.has_value()) << made.error().message;
  ns_ = name;
}

void ApiTest::TearDown() {
  if (ns_.empty()) return;
  const auto removed = client_->remove(kNamespace, {"", ns_}, {}, {});
  EXPECT_TRUE(removed.has_value()) << removed.error().message;
}

std::unique_ptr<kube::Client> ApiTest::client_as(kube::TokenSource* tokens, kube::ClientOptions options) {
  return std::make_unique<kube::Client>(*transport_, tokens, clock_, metrics_, std::move(options));
}

base::Result<ConfigMap> ApiTest::create_map(const std::string& name, const std::string& value) {
  const std::string body = R"({"metadata":{"name":")" + name + R"("},"data":{"k":")" + value + R"("}})";
  return kube::decode<ConfigMap>(client_->create(ConfigMap::kType, ns_, body, {}));
}

base::Result<ConfigMap> ApiTest::get_map(const std::string& name) {
  return kube::get<ConfigMap>(*client_, key(name), {});
}

}  // namespace gpupool::test
