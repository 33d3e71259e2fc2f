// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <nlohmann/json.hpp>

#include "base/json.h"
#include "tests/unit/base/json_sample.h"

namespace gpupool::base::json {
namespace {

std::string raw_of(const std::string& value) {
  const auto node = read<Node>("{\"count\": 1, \"raw\": " + value + ", \"name\": \"after\"}");
  if (!node) return node.error().message;
  EXPECT_EQ(node->name, "after");
  return node->raw.text;
}

TEST(JsonRaw, KeepsOrderAndSpellingWithoutSpaces) {
  EXPECT_EQ(raw_of(R"( { "z" : [ 1 , -2.50 , 1e5 , [ ] , { } ] , "a" : { "b" : null , "c" : true } } )"),
            R"({"z":[1,-2.50,1e5,[],{}],"a":{"b":null,"c":true}})");
  EXPECT_EQ(raw_of("18446744073709551615"), "18446744073709551615");
  EXPECT_EQ(raw_of("123456789012345678901234567890"), "123456789012345678901234567890");
  EXPECT_EQ(raw_of(R"("a\"\u0041\n")"), R"("a\"A\n")");
  EXPECT_EQ(raw_of(R"({"a": 1, "a": 2})"), R"({"a":1,"a":2})");
  EXPECT_EQ(raw_of("false"), "false");
  EXPECT_EQ(raw_of("[]"), "[]");
  EXPECT_EQ(raw_of("null"), "");
}

TEST(JsonRaw, StandsInArraysAndAtTheTop) {
  const auto node = read<Node>(R"({"raws": [1, {"a": [2]}, null, "x"]})");
  ASSERT_TRUE(node);
  ASSERT_EQ(node->raws.size(), 4U);
  EXPECT_EQ(node->raws[1].text, R"({"a":[2]})");
  EXPECT_EQ(node->raws[2].text, "null");
  EXPECT_EQ(node->raws[3].text, R"("x")");
  EXPECT_EQ(read<RawJson>("[1 ,2]")->text, "[1,2]");
}

// A random document of objects, arrays and scalars.
nlohmann::ordered_json any_document(int depth) {
  const int kind = *rc::gen::inRange(0, depth > 0 ? 7 : 5);
  switch (kind) {
    case 0:
      return nullptr;
    case 1:
      return *rc::gen::arbitrary<bool>();
    case 2:
      return *rc::gen::arbitrary<std::int64_t>();
    case 3:
      return *rc::gen::inRange(-1000, 1000) / 8.0;
    case 4:
      return *rc::gen::container<std::string>(rc::gen::inRange<char>(0, 127));
    default:
      break;
  }
  auto document = kind == 5 ? nlohmann::ordered_json::array() : nlohmann::ordered_json::object();
  const int size = *rc::gen::inRange(0, 4);
  for (int i = 0; i < size; ++i) {
    if (kind == 5) {
      document.push_back(any_document(depth - 1));
    } else {
      document["k\"" + std::to_string(i)] = any_document(depth - 1);
    }
  }
  return document;
}

RC_GTEST_PROP(JsonRawProperty, IsTheCompactFormOfTheDocument, ()) {
  const auto document = any_document(4);
  RC_ASSERT(read<RawJson>(document.dump(3))->text == document.dump());
}

}  // namespace
}  // namespace gpupool::base::json
