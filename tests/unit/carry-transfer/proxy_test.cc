// SPDX-License-Identifier: Apache-2.0
#include <cstdlib>

#include "tests/unit/carry-transfer/download_case.h"

namespace gpupool::carry {
namespace {

using testing::StartsWith;

// The server is the proxy.
class EnvironmentProxy : public DownloadCase {
 protected:
  EnvironmentProxy() {
    serve([](test::Peer& peer, const std::string&, int) { peer.write(test::ok("by proxy")); });
    ::setenv("http_proxy", server_->url().c_str(), 1);
    ::setenv("https_proxy", server_->url().c_str(), 1);
  }
  ~EnvironmentProxy() override {
    for (const char* name : {"http_proxy", "https_proxy", "no_proxy"}) ::unsetenv(name);
  }
  Download of(const std::string& url) const {
    Download download = wanted();
    download.url = url;
    download.deadline = clock_.now() + std::chrono::milliseconds(50);
    return download;
  }
};

TEST_F(EnvironmentProxy, IsUsedForHttp) {
  ASSERT_TRUE(fetch(of("http://data.invalid:8080/x?y")));
  EXPECT_THAT(requests().at(0), StartsWith("GET http://data.invalid:8080/x?y HTTP/1.1\r\n"));
}

TEST_F(EnvironmentProxy, IsATunnelForHttps) {
  EXPECT_FALSE(fetch(of("https://data.invalid/x")));  // there is no TLS server behind it
  EXPECT_THAT(requests().at(0), StartsWith("CONNECT data.invalid:443 HTTP/1.1\r\n"));
}

TEST_F(EnvironmentProxy, IsNotUsedWhereNoProxySays) {
  ::setenv("no_proxy", "localhost,.invalid", 1);
  EXPECT_FALSE(fetch(of("http://data.invalid/x")));
  EXPECT_TRUE(requests().empty());
}

}  // namespace
}  // namespace gpupool::carry
