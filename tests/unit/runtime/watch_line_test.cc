// SPDX-License-Identifier: Apache-2.0
#include "runtime/watch/watch_line.h"

#include <gtest/gtest.h>

namespace gpupool::runtime {
namespace {

std::string type_of(const std::string& line) {
  std::string storage;
  const auto type = event_type(line, storage);
  return type ? std::string(*type) : "error";
}

TEST(WatchLine, ReadsTheTypeWhereTheServerPutsIt) {
  EXPECT_EQ(type_of(R"({"type":"ADDED","object":{"metadata":{"name":"a"}}})"), "ADDED");
  // The object is not parsed here.
  EXPECT_EQ(type_of(R"({"type":"MODIFIED","object":)"), "MODIFIED");
}

TEST(WatchLine, ReadsTheTypeAnywhere) {
  EXPECT_EQ(type_of(R"({"object":{"type":"no"}, "type":"DELETED"})"), "DELETED");
  EXPECT_EQ(type_of(R"({ "type" : "ADDED" })"), "ADDED");
  EXPECT_EQ(type_of(R"({"type":"ADD\u0045D","object":{}})"), "ADDED");
}

TEST(WatchLine, WithoutATypeItIsAnError) {
  EXPECT_EQ(type_of("{}"), "error");
  EXPECT_EQ(type_of(R"({"type":)"), "error");
  EXPECT_EQ(type_of(R"({"type":"ADDED)"), "error");
  EXPECT_EQ(type_of("garbage"), "error");
}

TEST(WatchLine, ReadsABookmarksVersion) {
  const auto version = event_version(
      R"({"type":"BOOKMARK","object":{"kind":"Pod","metadata":{"resourceVersion":"12","creationTimestamp":null}}})");
  ASSERT_TRUE(version.has_value());
  EXPECT_EQ(*version, "12");
  EXPECT_EQ(event_version(R"({"type":"BOOKMARK"})").value(), "");
  EXPECT_FALSE(event_version(R"({"type":"BOOKMARK","object":[]})").has_value());
}

TEST(WatchLine, ReadsTheStatusOfAnError) {
  const auto expired = event_error(
      R"({"type":"ERROR","object":{"kind":"Status","apiVersion":"v1","status":"Failure","message":"too old resource version: 1","reason":"Expired","code":410}})");
  EXPECT_EQ(expired.code, base::ErrorCode::kExpired);
  EXPECT_NE(expired.message.find("too old resource version"), std::string::npos);
  const auto gone = event_error(
      R"({"type":"ERROR","object":{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"Gone","code":410}})");
  EXPECT_EQ(gone.code, base::ErrorCode::kExpired);
  EXPECT_EQ(event_error(R"({"type":"ERROR","object":{}})").code, base::ErrorCode::kParse);
  EXPECT_EQ(event_error("garbage").code, base::ErrorCode::kParse);
}

}  // namespace
}  // namespace gpupool::runtime
