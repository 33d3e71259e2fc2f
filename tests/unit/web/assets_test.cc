// SPDX-License-Identifier: Apache-2.0
#include "assets/assets.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

namespace gpupool::web {
namespace {

TEST(Assets, ThePageIsThere) {
  const Asset* const page = find_asset("/");
  ASSERT_TRUE(page);
  EXPECT_EQ(page, find_asset("/index.html"));
  EXPECT_EQ(page->content_type, "text/html; charset=utf-8");
  EXPECT_TRUE(page->gzip.starts_with("\x1f\x8b"));
}

TEST(Assets, EachFileHasItsTypeAndTag) {
  std::set<std::string> tags;
  for (const char* path : {"/index.html", "/main.js", "/page.css", "/icon.svg", "/vendor/uplot.js"}) {
    ASSERT_TRUE(find_asset(path)) << path;
    tags.insert(find_asset(path)->etag);
  }
  EXPECT_EQ(tags.size(), 5U);
  EXPECT_EQ(find_asset("/main.js")->content_type, "text/javascript; charset=utf-8");
  EXPECT_EQ(find_asset("/page.css")->content_type, "text/css; charset=utf-8");
  EXPECT_EQ(find_asset("/icon.svg")->content_type, "image/svg+xml");
}

TEST(Assets, NothingElseIsServed) {
  for (const char* path : {"", "/../main.js", "/vendor/LICENSE.htm", "/main.js/", "/nothing", "//main.js"})
    EXPECT_FALSE(find_asset(path)) << path;
}

}  // namespace
}  // namespace gpupool::web
