// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cstdlib>
#include <memory>

#include "net/curl_transport.h"

namespace gpupool {
namespace {

// libcurl's global state for this program, whose tests reach their servers without a proxy and have no
// credentials.
class OwnEnvironment final : public testing::Environment {
 public:
  void SetUp() override {
    for (const char* name : {"http_proxy", "https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY",
                             "GIT_USERNAME", "GIT_PASSWORD", "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY",
                             "AWS_SESSION_TOKEN", "AWS_CA_BUNDLE"}) {
      ::unsetenv(name);
    }
    curl_ = std::make_unique<net::CurlGlobal>();
  }
  void TearDown() override { curl_.reset(); }

 private:
  std::unique_ptr<net::CurlGlobal> curl_;
};

[[maybe_unused]] const testing::Environment* const kOwnEnvironment =
    testing::AddGlobalTestEnvironment(new OwnEnvironment);

}  // namespace
}  // namespace gpupool
