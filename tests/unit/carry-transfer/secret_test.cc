// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "tests/support/temporary_folder.h"
#include "transfer/http_credentials.h"

namespace gpupool::carry {
namespace {

using testing::HasSubstr;
using testing::Not;

class HttpSecret : public testing::Test {
 protected:
  void put(const std::string& key, const std::string& value) {
    std::ofstream(folder_.path() + "/" + key) << value;
  }
  Outcome<HttpCredentials> read() const { return http_credentials(folder_.path()); }

  test::TemporaryFolder folder_;
};

TEST_F(HttpSecret, BasicAndBearer) {
  put("username", "Aladdin\n");
  put("password", "open sesame\r\n");
  ASSERT_TRUE(read());
  EXPECT_EQ(read()->headers.at(0).name, "Authorization");
  EXPECT_EQ(read()->headers.at(0).value, "Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==");
}

TEST_F(HttpSecret, Bearer) {
  put("token", "abc\n");
  put("ca.crt", "PEM");
  ASSERT_TRUE(read());
  EXPECT_EQ(read()->headers.at(0).value, "Bearer abc");
  EXPECT_EQ(read()->ca_pem, "PEM");
}

TEST_F(HttpSecret, OnlyAuthorities) {
  put("ca.crt", "PEM");
  ASSERT_TRUE(read());
  EXPECT_TRUE(read()->headers.empty());
  EXPECT_TRUE(http_credentials("")->headers.empty());
}

TEST_F(HttpSecret, WhatIsMissingIsNamed) {
  EXPECT_THAT(read().error().message, HasSubstr("token"));
  put("username", "somebody");
  EXPECT_EQ(read().error().kind, FailureKind::kInvalid);
  EXPECT_THAT(read().error().message, HasSubstr("lacks the key password"));
  EXPECT_THAT(read().error().message, Not(HasSubstr("somebody")));
  put("token", "x");
  EXPECT_THAT(read().error().message, HasSubstr("only one"));
}

TEST_F(HttpSecret, NoHeaderCanBeAdded) {
  put("token", "a\r\nEvil: yes");
  EXPECT_EQ(read().error().kind, FailureKind::kInvalid);
  EXPECT_THAT(read().error().message, Not(HasSubstr("Evil")));
  put("token", "\n");
  EXPECT_THAT(read().error().message, HasSubstr("token of the Secret is empty"));
}

}  // namespace
}  // namespace gpupool::carry
