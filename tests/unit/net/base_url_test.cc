// SPDX-License-Identifier: Apache-2.0
#include "net/base_url.h"

#include <gtest/gtest.h>

namespace gpupool::net {
namespace {

TEST(BaseUrl, IsTakenApart) {
  const auto plain = *parse_base_url("https://api.example:6443");
  EXPECT_EQ(plain.scheme, "https");
  EXPECT_EQ(plain.authority, "api.example:6443");
  EXPECT_EQ(plain.host, "api.example");
  EXPECT_EQ(plain.port, "6443");
  EXPECT_EQ(plain.prefix, "");

  const auto prefixed = *parse_base_url("http://h/k8s/clusters/c-1//");
  EXPECT_EQ(prefixed.port, "80");
  EXPECT_EQ(prefixed.prefix, "/k8s/clusters/c-1");

  const auto six = *parse_base_url("https://[fd00::1]");
  EXPECT_EQ(six.host, "[fd00::1]");
  EXPECT_EQ(six.port, "443");
  EXPECT_EQ(parse_base_url("https://[fd00::1]:6443/")->port, "6443");
}

TEST(BaseUrl, EverythingElseIsRefused) {
  for (const char* url :
       {"", "host:80", "ftp://h", "https://", "https:///p", "https://:80", "https://u@h", "https://h?x",
        "https://h#f", "https://h:", "https://h:x", "https://[::1", "https://a b"}) {
    const auto parts = parse_base_url(url);
    ASSERT_FALSE(parts) << url;
    EXPECT_EQ(parts.error().code, base::ErrorCode::kInvalidArgument);
  }
}

}  // namespace
}  // namespace gpupool::net
