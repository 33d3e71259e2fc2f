// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/json.h"
#include "tests/unit/base/json_sample.h"

namespace gpupool::base::json {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

std::string error_of(std::string_view text) {
  const auto node = read<Node>(text);
  if (node) return "no error";
  EXPECT_EQ(node.error().code, ErrorCode::kParse);
  return node.error().message;
}

TEST(JsonErrors, NameThePathAndWhatWasExpected) {
  EXPECT_EQ(error_of(R"({"leaves": [{}, {"name": 1}]})"), "JSON: leaves[1].name: expected a string");
  EXPECT_EQ(error_of(R"({"labels": {"a.b": []}})"), R"(JSON: labels["a.b"]: expected a string)");
  EXPECT_EQ(error_of(R"({"leafByName": {"k": {"numbers": [1, "2"]}}})"),
            R"(JSON: leafByName["k"].numbers[1]: expected a 64-bit integer)");
  EXPECT_EQ(error_of(R"({"children": [{"flag": 1}]})"), "JSON: children[0].flag: expected true or false");
  EXPECT_EQ(error_of(R"({"ratio": "1"})"), "JSON: ratio: expected a number");
  EXPECT_EQ(error_of(R"({"time": "now"})"), "JSON: time: expected an RFC 3339 time");
  EXPECT_EQ(error_of(R"({"time": 3})"), "JSON: time: expected an RFC 3339 time");
  EXPECT_EQ(error_of(R"({"leaf": []})"), "JSON: leaf: expected an object");
  EXPECT_EQ(error_of(R"({"leaf": "x"})"), "JSON: leaf: expected an object");
  EXPECT_EQ(error_of(R"({"leaves": {}})"), "JSON: leaves: expected an array");
  EXPECT_EQ(error_of(R"({"labels": []})"), "JSON: labels: expected an object");
  EXPECT_EQ(error_of(R"({"name": {}})"), "JSON: name: expected a string");
  EXPECT_EQ(error_of("[]"), "JSON: expected an object");
  EXPECT_EQ(error_of("null"), "JSON: expected an object");
}

TEST(JsonErrors, NumbersThatDoNotFit) {
  for (const char* number : {"1.5", "9223372036854775808", "9223372036854775808.0", "18446744073709551616",
                             "1e19", "-9223372036854775809", "1e300"}) {
    EXPECT_EQ(error_of(std::string(R"({"count": )") + number + "}"),
              "JSON: count: expected a 64-bit integer");
  }
  EXPECT_THAT(error_of(R"({"ratio": 1e999})"), StartsWith("JSON: ratio: "));
}

TEST(JsonErrors, SyntaxErrorsTellWhere) {
  EXPECT_THAT(error_of(""), StartsWith("JSON: parse error"));
  EXPECT_EQ(error_of(R"({"leaves": [{"name": x}]})"), "JSON: leaves[0].name: expected a string");
  EXPECT_THAT(error_of(R"({"leaves": [{"name": "\x"}]})"), StartsWith("JSON: leaves[0].name: parse error"));
  EXPECT_THAT(error_of(R"({} {})"), HasSubstr("parse error"));
  EXPECT_THAT(error_of(R"({"a": 1,})"), HasSubstr("parse error"));
  EXPECT_THAT(error_of("{\"name\": \"\xff\"}"), HasSubstr("parse error"));
  EXPECT_THAT(error_of("{\"unknown\": \"\xff\"}"), HasSubstr("parse error"));
}

std::string nested(std::size_t depth, const std::string& open, const std::string& close) {
  std::string text;
  for (std::size_t i = 0; i < depth; ++i) text += open;
  for (std::size_t i = 0; i < depth; ++i) text += close;
  return text;
}

TEST(JsonErrors, NestingIsLimited) {
  // With the object around it, the depth is 200.
  EXPECT_EQ(error_of("{\"raw\": " + nested(199, "[", "]") + "}"), "no error");
  EXPECT_EQ(error_of("{\"raw\": " + nested(200, "[", "]") + "}"), "no error")
      << "only that part is unreadable";
  const auto marked =
      read<Node>("{\"raw\": {\"a\": [" + nested(300, "[", "]") + ", 2]}, \"name\": \"after\"}");
  ASSERT_TRUE(marked);
  EXPECT_EQ(marked->raw.text, kTooDeep);
  EXPECT_EQ(marked->name, "after");
  EXPECT_EQ(error_of("{\"unknown\": " + nested(100'000, "[", "]") + "}"), "no error") << "it is skipped";
  EXPECT_EQ(error_of("{\"children\": [" + nested(99, R"({"children": [)", "]}") + "]}"), "no error");
  EXPECT_THAT(error_of("{\"children\": [" + nested(100, R"({"children": [)", "]}") + "]}"),
              HasSubstr("deeper than 200"));
  EXPECT_THAT(error_of(nested(1'000'000, "[", "")), HasSubstr("expected an object"));
}

}  // namespace
}  // namespace gpupool::base::json
