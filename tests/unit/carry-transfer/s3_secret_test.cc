// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "s3/credentials.h"
#include "tests/support/temporary_folder.h"

namespace gpupool::carry::s3 {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

class S3Secret : public testing::Test {
 protected:
  void put(const std::string& key, const std::string& value) {
    std::ofstream(folder_.path() + "/" + key) << value;
  }
  Outcome<Credentials> read() const { return read_credentials(folder_.path()); }

  test::TemporaryFolder folder_;
};

TEST_F(S3Secret, FilesNamedAsTheVariables) {
  put("AWS_ACCESS_KEY_ID", "id\n");
  put("AWS_SECRET_ACCESS_KEY", "se/cret+=\r\n\n");
  ASSERT_TRUE(read());
  EXPECT_EQ(read()->key.id, "id");
  EXPECT_EQ(read()->key.secret, "se/cret+=");
  EXPECT_EQ(read()->token, "");
  put("AWS_SESSION_TOKEN", "token\n");
  put("ca.crt", "PEM\n");
  EXPECT_EQ(read()->token, "token");
  EXPECT_EQ(read()->ca_pem, "PEM");
}

TEST_F(S3Secret, AFileOfProfiles) {
  put("credentials",
      "# mine\n[other]\naws_access_key_id = wrong\n\n[ default ]\r\nAWS_ACCESS_KEY_ID=id\r\n"
      "aws_secret_access_key = a=b \n; no\naws_session_token=t\n[last]\naws_access_key_id = wrong\n");
  ASSERT_TRUE(read()) << read().error().message;
  EXPECT_EQ(read()->key.id, "id");
  EXPECT_EQ(read()->key.secret, "a=b");
  EXPECT_EQ(read()->token, "t");
}

TEST_F(S3Secret, AnonymousWithoutOne) {
  EXPECT_TRUE(read_credentials("")->anonymous());
  put("ca.crt", "PEM");
  EXPECT_TRUE(read()->anonymous());
}

TEST_F(S3Secret, WhatIsMissingIsNamedAndValuesAreNot) {
  EXPECT_THAT(read().error().message,
              HasSubstr("lacks the keys AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY"));
  put("AWS_SECRET_ACCESS_KEY", "hunter2");
  EXPECT_EQ(read().error().kind, FailureKind::kInvalid);
  EXPECT_THAT(read().error().message,
              AllOf(HasSubstr("lacks the key AWS_ACCESS_KEY_ID"), Not(HasSubstr("hunter2"))));
  put("AWS_ACCESS_KEY_ID", "\n");
  EXPECT_THAT(read().error().message, HasSubstr("AWS_ACCESS_KEY_ID of the Secret is empty"));
}

TEST_F(S3Secret, AProfileWithoutASecret) {
  put("credentials", "[default]\naws_access_key_id = id\n[x]\naws_secret_access_key = hunter2\n");
  EXPECT_THAT(read().error().message, AllOf(HasSubstr("no aws_secret_access_key in its section [default]"),
                                            Not(HasSubstr("hunter2"))));
}

}  // namespace
}  // namespace gpupool::carry::s3
