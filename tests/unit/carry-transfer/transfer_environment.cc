// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cstdlib>
#include <memory>

#include "net/curl_transport.h"

namespace gpupool::carry {
namespace {

// libcurl's global state for this program. Removes the machine's proxy settings, so that the tests reach
// their servers.
class TransferEnvironment final : public testing::Environment {
 public:
  void SetUp() override {
    for (const char* name :
         {"http_proxy", "https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY", "no_proxy", "NO_PROXY"}) {
      ::unsetenv(name);
    }
    curl_ = std::make_unique<net::CurlGlobal>();
  }
  void TearDown() override { curl_.reset(); }

 private:
  std::unique_ptr<net::CurlGlobal> curl_;
};

[[maybe_unused]] const testing::Environment* const kTransferEnvironment =
    testing::AddGlobalTestEnvironment(new TransferEnvironment);

}  // namespace
}  // namespace gpupool::carry
