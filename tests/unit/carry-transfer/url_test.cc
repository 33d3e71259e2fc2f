// SPDX-License-Identifier: Apache-2.0
#include "transfer/url.h"

#include <gtest/gtest.h>

#include "transfer/validators.h"

namespace gpupool::carry {
namespace {

TEST(Url, Parts) {
  const auto url = parse_url("HTTPS://Host.example:443/a/../b%20c?x=1&y=2#part");
  ASSERT_TRUE(url) << url.error().message;
  EXPECT_EQ(url->scheme, "https");
  EXPECT_EQ(url->text, "https://Host.example/a/../b%20c?x=1&y=2");
  EXPECT_EQ(url->shown, "https://Host.example/a/../b%20c");
  EXPECT_EQ(parse_url("http://h")->origin, "http://h:80");
  EXPECT_EQ(parse_url("http://[::1]:81/")->origin, "http://[::1]:81");
}

TEST(Url, OriginsDoNotDependOnCase) {
  EXPECT_EQ(parse_url("http://HOST/")->origin, parse_url("http://host:80/x")->origin);
}

TEST(Url, Relative) {
  const Url base = *parse_url("http://h:8/a/b?q");
  EXPECT_EQ(resolve_url(base, "c d")->text, "http://h:8/a/c%20d");
  EXPECT_EQ(resolve_url(base, "/c?r")->text, "http://h:8/c?r");
  EXPECT_EQ(resolve_url(base, "//other/c")->text, "http://other/c");
  EXPECT_FALSE(resolve_url(base, "javascript:x"));
}

TEST(Url, PercentEncoding) {
  EXPECT_EQ(percent_encoded("a-b_c.d~e/f g+h=i(j)'\xc3\xa4*", true),
            "a-b_c.d~e/f%20g%2Bh%3Di%28j%29%27%C3%A4%2A");
  EXPECT_EQ(percent_encoded("a/b", false), "a%2Fb");
}

TEST(Validators, ContentRange) {
  const auto range = parse_content_range("bytes 5-9/10");
  ASSERT_TRUE(range);
  EXPECT_EQ(range->first, 5);
  EXPECT_EQ(range->last, 9);
  EXPECT_EQ(range->total, 10);
  EXPECT_EQ(parse_content_range("bytes */10")->total, 10);
  EXPECT_EQ(parse_content_range("bytes 0-0/*")->total, -1);
  for (const char* bad : {"", "bytes", "bytes 5-9", "bytes 9-5/10", "bytes 5-10/10", "bytes -1-5/10",
                          "items 0-1/2", "bytes 0-1/2x", "bytes 99999999999999999999-1/2"})
    EXPECT_FALSE(parse_content_range(bad)) << bad;
}

TEST(Validators, ETags) {
  EXPECT_TRUE(same_etag("\"a\"", "a"));
  EXPECT_TRUE(same_etag("W/\"a\"", "\"a\""));
  EXPECT_FALSE(same_etag("\"a\"", "\"b\""));
  EXPECT_EQ(quoted_etag("a"), "\"a\"");
}

}  // namespace
}  // namespace gpupool::carry
