// SPDX-License-Identifier: Apache-2.0
#include "kube/config/pem.h"

#include <gtest/gtest.h>

namespace gpupool::kube {
namespace {

constexpr const char* kRsaKey = "-----BEGIN RSA PRIVATE KEY-----\nAAAA\n-----END RSA PRIVATE KEY-----\n";

TEST(Pem, KnowsItsKind) {
  EXPECT_TRUE(check_pem(kRsaKey, "PRIVATE KEY", "w").has_value());
  const auto error = check_pem(kRsaKey, "CERTIFICATE", "users[a].client-certificate");
  ASSERT_FALSE(error.has_value());
  EXPECT_EQ(error.error().message,
            "users[a].client-certificate holds no complete PEM block of a CERTIFICATE");
}

TEST(Pem, ATruncatedOneIsNone) {
  const std::string whole = kRsaKey;
  for (std::size_t length = 0; length + 1 < whole.size(); ++length) {
    EXPECT_FALSE(check_pem(whole.substr(0, length), "PRIVATE KEY", "w").has_value()) << length;
  }
}

}  // namespace
}  // namespace gpupool::kube
