// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <array>
#include <memory>
#include <string>

#include "api/meta/object_meta.h"
#include "base/clock.h"
#include "base/metrics.h"
#include "kube/client.h"
#include "kube/config/rest_config.h"
#include "net/curl_transport.h"

namespace gpupool::test {

inline constexpr api::ResourceType kNamespace{"", "v1", "namespaces", "Namespace", false};
inline constexpr api::ResourceType kNode{"", "v1", "nodes", "Node", false};
inline constexpr api::ResourceType kPod{"", "v1", "pods", "Pod", true};

struct ConfigMap {
  static constexpr api::ResourceType kType{"", "v1", "configmaps", "ConfigMap", true};
  api::ObjectMeta metadata;
  std::map<std::string, std::string> data;
};

struct WatchEvent {
  std::string type;
  ConfigMap object;
};

// A client of the API server that TEST_KUBECONFIG names, and a namespace of the test's own that goes with it.
class ApiTest : public ::testing::Test {
 protected:
  void SetUp() override;
  void TearDown() override;

  std::unique_ptr<kube::Client> client_as(kube::TokenSource* tokens, kube::ClientOptions options = {});
  // A ConfigMap of this name with data {"k": value}.
  base::Result<ConfigMap> create_map(const std::string& name, const std::string& value = "v");
  base::Result<ConfigMap> get_map(const std::string& name);
  api::ObjectKey key(const std::string& name) const { return {ns_, name}; }

  net::CurlGlobal curl_;
  base::SystemClock clock_;
  base::Metrics metrics_;
  kube::RestConfig config_;
  std::unique_ptr<net::CurlTransport> transport_;
  std::unique_ptr<kube::Client> client_;
  std::string ns_;
};

}  // namespace gpupool::test

template <>
struct gpupool::base::json::Schema<gpupool::test::ConfigMap> {
  using T = test::ConfigMap;
  static constexpr auto fields = std::array{field<&T::metadata>("metadata"), field<&T::data>("data")};
};

template <>
struct gpupool::base::json::Schema<gpupool::test::WatchEvent> {
  using T = test::WatchEvent;
  static constexpr auto fields = std::array{field<&T::type>("type"), field<&T::object>("object")};
};
