// SPDX-License-Identifier: Apache-2.0
#include "kube/config/base64.h"

#include <gtest/gtest.h>

namespace gpupool::kube {
namespace {

TEST(Base64, TheVectorsOfRfc4648) {
  const std::pair<const char*, const char*> vectors[] = {{"", ""},
                                                         {"f", "Zg=="},
                                                         {"fo", "Zm8="},
                                                         {"foo", "Zm9v"},
                                                         {"foob", "Zm9vYg=="},
                                                         {"fooba", "Zm9vYmE="},
                                                         {"foobar", "Zm9vYmFy"}};
  for (const auto& [plain, encoded] : vectors) {
    EXPECT_EQ(base64_encode(plain), encoded);
    EXPECT_EQ(base64_decode(encoded), plain);
  }
}

TEST(Base64, AllBytesAndLineBreaks) {
  std::string bytes;
  for (int i = 0; i < 256; ++i) bytes += static_cast<char>(i);
  std::string encoded = base64_encode(bytes);
  encoded.insert(40, "\r\n ");
  EXPECT_EQ(base64_decode(encoded), bytes);
}

TEST(Base64, WhatIsNone) {
  for (const char* text : {"Z", "Zg", "Zg=", "Zm8", "Zm9v=", "Zg==Zg==", "Z!==", "Zm9vY", "====", "-_-_"}) {
    EXPECT_FALSE(base64_decode(text).has_value()) << text;
  }
}

}  // namespace
}  // namespace gpupool::kube
