// SPDX-License-Identifier: Apache-2.0
#include "git/git_url.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "git/git_credentials.h"
#include "tests/support/temporary_folder.h"
#include "tests/unit/carry-git/made_archive.h"

namespace gpupool::carry {
namespace {

using testing::HasSubstr;

std::string parsed_text(const std::string& url) {
  const auto parsed = parse_git_url(url);
  return parsed ? parsed->text() : parsed.error().message;
}

TEST(GitUrl, HasAnOriginAndAPath) {
  EXPECT_EQ(parsed_text("https://Example.COM:443/a/B.git/"), "https://example.com/a/B.git");
  EXPECT_EQ(parsed_text("http://h:8080/~u/@scope/r"), "http://h:8080/~u/@scope/r");
  EXPECT_EQ(parsed_text("http://[::1]:80/r"), "http://[::1]/r");
  EXPECT_EQ(parsed_text("https://h"), "https://h");
}

TEST(GitUrl, BadOnesAreRefusedAndSecretsNotShown) {
  for (const char* url : {"https://me:hidden@h/r", "https://hidden@h/r", "https://h/r?token=hidden",
                          "https://h/r#hidden", "https:///hidden", "https://:80/hidden", "ssh://h/hidden",
                          "git@h:hidden", "", "https://h/hid den", "https://h/hidden\n"}) {
    EXPECT_FALSE(parse_git_url(url)) << url;
    EXPECT_THAT(parsed_text(url), testing::Not(HasSubstr("hidden"))) << url;
  }
}

std::string after_redirect(const std::string& from, const std::string& location) {
  const auto to = redirected_git_url(*parse_git_url(from), location);
  return to ? to->text() : to.error().message;
}

TEST(GitUrl, RedirectsAreThoseOfInfoRefs) {
  const std::string tail = "/info/refs?service=git-upload-pack";
  EXPECT_EQ(after_redirect("http://h/r", "https://h/r.git" + tail), "https://h/r.git");
  EXPECT_EQ(after_redirect("https://h/r", "/x/r.git" + tail), "https://h/x/r.git");
  EXPECT_EQ(after_redirect("https://h/r", "//g/r" + tail), "https://g/r");
  EXPECT_EQ(after_redirect("https://h/r", "https://g/r/info/refs"), "https://g/r");
  EXPECT_THAT(after_redirect("https://h/r", "http://h/r" + tail), HasSubstr("from https to http"));
  EXPECT_THAT(after_redirect("https://h/r", "https://h/login"), HasSubstr("what is no git repository"));
  EXPECT_THAT(after_redirect("https://h/r", ""), HasSubstr("what is no git repository"));
  const auto user = after_redirect("https://h/r", "https://me:hidden@h/r" + tail);
  EXPECT_THAT(user, testing::AllOf(HasSubstr("has a user or a password"), testing::Not(HasSubstr("hidden"))));
}

TEST(GitCredentials, AreReadFromASecret) {
  const test::TemporaryFolder folder;
  write_text(folder.path() + "/username", "me\n");
  write_text(folder.path() + "/password", "pass word\n");
  write_text(folder.path() + "/ca.crt", "PEM\nPEM\n");
  const auto credentials = read_git_credentials(folder.path());
  ASSERT_TRUE(credentials) << credentials.error().message;
  EXPECT_EQ(credentials->username, "me");
  EXPECT_EQ(credentials->password, "pass word");
  EXPECT_EQ(credentials->token, "");
  EXPECT_EQ(credentials->ca_pem, "PEM\nPEM");
  EXPECT_TRUE(read_git_credentials("")->username.empty());
}

// RFC 7617, 2, and RFC 4648, 10.
TEST(GitCredentials, Base64HasItsPadding) {
  EXPECT_EQ(basic_authorization("Aladdin", "open sesame"), "Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==");
  EXPECT_EQ(basic_authorization("f", ""), "Basic Zjo=");
  EXPECT_EQ(basic_authorization("f", "\xff"), "Basic Zjr/");
}

}  // namespace
}  // namespace gpupool::carry
