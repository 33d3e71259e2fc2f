// SPDX-License-Identifier: Apache-2.0
#include "stream/messages.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace gpupool::web {
namespace {

using nlohmann::json;

TEST(Messages, BytesThatAreNoUtf8DoNotBreakALine) {
  const std::string text = lines_message("l", {{3, 17, "a\xff\"\n\x01</script>"}});
  EXPECT_EQ(text.find('\n'), std::string::npos);
  const json message = json::parse(text);
  EXPECT_EQ(message["lines"][0][0], 3);
  EXPECT_EQ(message["lines"][0][2], "a\xef\xbf\xbd\"\n\x01</script>");
}

TEST(Messages, AnObjectIsShownWithoutWhatNobodyReads) {
  const auto shown = shown_object(
      R"({"metadata":{"name":"a","namespace":"lab","managedFields":[{"x":1}],"annotations":{"kubectl.kubernetes.io/last-applied-configuration":"{}","k":"v"}},"spec":{"n":1}})");
  ASSERT_TRUE(shown);
  EXPECT_EQ(shown->first, "lab/a");
  const json object = json::parse(shown->second);
  EXPECT_FALSE(object["metadata"].contains("managedFields"));
  EXPECT_EQ(object["metadata"]["annotations"], json({{"k", "v"}}));
  EXPECT_EQ(object["spec"]["n"], 1);
  EXPECT_EQ(shown_object(R"({"metadata":{"name":"node"}})")->first, "node");
  for (const char* text : {"", "1", "{}", R"({"metadata":1})"}) EXPECT_FALSE(shown_object(text)) << text;
}

TEST(Messages, ObjectsOfAListAreOneMessage) {
  const json message = json::parse(objects_message("o", {{"a", R"({"x":1})"}, {"b", "{}"}}, true));
  EXPECT_EQ(message, json::parse(R"({"id":"o","reset":true,"objects":[["a",{"x":1}],["b",{}]]})"));
  EXPECT_EQ(json::parse(objects_message("o", {}, false)), json({{"id", "o"}, {"objects", json::array()}}));
}

TEST(Messages, AnErrorTellsItsStatus) {
  const json message = json::parse(error_message("t", {base::ErrorCode::kForbidden, "no", 403}));
  EXPECT_EQ(message["error"]["status"], 403);
  EXPECT_EQ(message["error"]["message"], "no");
}

}  // namespace
}  // namespace gpupool::web
