// SPDX-License-Identifier: Apache-2.0
#include "base/json.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/unit/base/json_sample.h"

namespace gpupool::base::json {
namespace {

using testing::ElementsAre;
using testing::Pair;

Node must_read(std::string_view text) {
  auto node = read<Node>(text);
  EXPECT_TRUE(node) << text << ": " << node.error().message;
  return node ? *node : Node{};
}

TEST(Json, FillsEveryKind) {
  const Node node = must_read(R"({
    "name": "a\u00e4\n", "flag": true, "count": -5, "ratio": 0.25, "time": "1970-01-01T00:00:07Z",
    "leaf": {"name": "l", "numbers": [1, 2]}, "maybeLeaf": {"name": "m"}, "maybeCount": 9, "maybeFlag": false,
    "maybeTime": "1970-01-01T00:00:08Z", "leaves": [{"name": "x"}, {}, {"numbers": [3]}], "words": ["p", "q"],
    "labels": {"a.b/c": "1", "d": "2"}, "leafByName": {"k": {"name": "v"}},
    "nested": {"o": {"i": ["1", "2"]}, "e": {}}
  })");
  EXPECT_EQ(node.name, "a\xc3\xa4\n");
  EXPECT_TRUE(node.flag);
  EXPECT_EQ(node.count, -5);
  EXPECT_EQ(node.ratio, 0.25);
  EXPECT_EQ(node.time, WallTime(std::chrono::seconds(7)));
  EXPECT_EQ(node.leaf.name, "l");
  EXPECT_THAT(node.leaf.numbers, ElementsAre(1, 2));
  ASSERT_TRUE(node.maybe_leaf && node.maybe_count && node.maybe_flag && node.maybe_time && node.words);
  EXPECT_EQ(node.maybe_leaf->name, "m");
  EXPECT_EQ(*node.maybe_count, 9);
  EXPECT_FALSE(*node.maybe_flag);
  EXPECT_EQ(*node.maybe_time, WallTime(std::chrono::seconds(8)));
  ASSERT_EQ(node.leaves.size(), 3U);
  EXPECT_EQ(node.leaves[0].name, "x");
  EXPECT_THAT(node.leaves[2].numbers, ElementsAre(3));
  EXPECT_THAT(*node.words, ElementsAre("p", "q"));
  EXPECT_THAT(node.labels, ElementsAre(Pair("a.b/c", "1"), Pair("d", "2")));
  EXPECT_EQ(node.leaf_by_name.at("k").name, "v");
  EXPECT_THAT(node.nested.at("o").at("i"), ElementsAre("1", "2"));
  EXPECT_TRUE(node.nested.at("e").empty());
}

TEST(Json, UnknownFieldsAreSkippedWhateverTheyHold) {
  const Node node = must_read(R"({"x": {"name": "no", "y": [1, {"count": 3}, null]}, "name": "yes",
                                 "z": [], "w": null, "v": 1.5, "u": "s", "t": true, "count": 1})");
  EXPECT_EQ(node.name, "yes");
  EXPECT_EQ(node.count, 1);
}

TEST(Json, NullIsAbsent) {
  const Node node = must_read(R"({"name": null, "count": null, "leaf": null, "maybeLeaf": null,
      "maybeCount": null, "leaves": null, "labels": null, "words": null, "raw": null, "time": null})");
  EXPECT_EQ(node.name, "");
  EXPECT_FALSE(node.maybe_leaf || node.maybe_count || node.words);
  EXPECT_TRUE(node.raw.empty());
}

TEST(Json, NullInAnArrayOrMapIsAnEmptyElement) {
  const Node node = must_read(R"({"leaves": [null, {"name": "b"}], "labels": {"k": null}})");
  ASSERT_EQ(node.leaves.size(), 2U);
  EXPECT_EQ(node.leaves[1].name, "b");
  EXPECT_THAT(node.labels, ElementsAre(Pair("k", "")));
}

TEST(Json, NumbersOfEitherSpellingFit) {
  EXPECT_EQ(must_read(R"({"count": 1.0})").count, 1);
  EXPECT_EQ(must_read(R"({"count": -2e3})").count, -2000);
  EXPECT_EQ(must_read(R"({"count": 9223372036854775807})").count, INT64_MAX);
  EXPECT_EQ(must_read(R"({"count": -9223372036854775808})").count, INT64_MIN);
  EXPECT_EQ(must_read(R"({"ratio": 3})").ratio, 3.0);
  EXPECT_EQ(must_read(R"({"ratio": -3})").ratio, -3.0);
}

TEST(Json, OfTwoEqualKeysTheLastWins) {
  const Node node = must_read(R"({"name": "1", "name": "2", "words": ["a", "b"], "words": ["c"],
    "labels": {"a": "1"}, "labels": {"b": "2", "b": "3"}, "maybeCount": 1, "maybeCount": 2,
    "leaf": {"numbers": [1]}, "leaf": {"numbers": [2]}, "raw": [1], "raw": {"a": 1}})");
  EXPECT_EQ(node.name, "2");
  EXPECT_THAT(*node.words, ElementsAre("c"));
  EXPECT_THAT(node.labels, ElementsAre(Pair("b", "3")));
  EXPECT_EQ(*node.maybe_count, 2);
  EXPECT_THAT(node.leaf.numbers, ElementsAre(2));
  EXPECT_EQ(node.raw.text, R"({"a":1})");
}

// Grows arrays inside elements of arrays. Addresses that the reader still uses must stay valid; a sanitizer
// would report it otherwise.
TEST(Json, NestedArraysGrow) {
  std::string text = "{}";
  for (int depth = 0; depth < 4; ++depth) {
    std::string children;
    for (int i = 0; i < 9; ++i) children += (i ? "," : "") + text;
    text = R"({"name":"before","leaves":[{"numbers":[1,2,3]},{"numbers":[4,5]}],"children":[)" + children +
           R"(],"count":)" + std::to_string(depth) + R"(,"labels":{"after":"x"}})";
  }
  const Node root = must_read(text);
  const Node* node = &root;
  for (int depth = 3; depth >= 0; --depth) {
    ASSERT_EQ(node->children.size(), 9U);
    EXPECT_EQ(node->count, depth);
    EXPECT_EQ(node->name, "before");
    EXPECT_EQ(node->labels.at("after"), "x");
    EXPECT_THAT(node->leaves.at(1).numbers, ElementsAre(4, 5));
    node = &node->children[static_cast<std::size_t>(depth) * 2];
  }
}

TEST(Json, ReadsIntoContainersAtTheTop) {
  EXPECT_THAT(*read<std::vector<std::string>>(R"(["a"])"), ElementsAre("a"));
  EXPECT_EQ((read<std::map<std::string, std::int64_t>>(R"({"a": 1})")->at("a")), 1);
  EXPECT_EQ(*read<std::string>(R"("a")"), "a");
}

TEST(JsonQuote, EscapesAndReplaces) {
  EXPECT_EQ(quote("a\"b\\c\n\x01"), R"("a\"b\\c\n\u0001")");
  EXPECT_EQ(quote("\xc3\xa4"), "\"\xc3\xa4\"");
  EXPECT_EQ(quote("\xff"), "\"\xef\xbf\xbd\"");
  EXPECT_EQ(quote(std::string_view("\0", 1)), R"("\u0000")");
}

RC_GTEST_PROP(JsonProperty, QuotedTextReadsBack, (const std::vector<std::uint8_t>& bytes)) {
  const std::string ascii = [&] {
    std::string text;
    for (const auto byte : bytes) text += static_cast<char>(byte & 0x7fU);
    return text;
  }();
  RC_ASSERT(read<std::string>(quote(ascii)) == ascii);
}

RC_GTEST_PROP(JsonProperty, QuotedBytesAreValidJson, (const std::string& bytes)) {
  RC_ASSERT(nlohmann::json::accept(quote(bytes)));
}

RC_GTEST_PROP(JsonProperty, AnyBytesAreAnswered, (const std::string& bytes)) { (void)read<Node>(bytes); }

// Every prefix of a document must be an error, never a partial result.
TEST(Json, EveryTruncationIsAnError) {
  const std::string text =
      R"({"name": "a", "leaves": [{"numbers": [1, 2]}], "raw": {"b": [true]}, "x": {"y": []}})";
  for (std::size_t length = 0; length < text.size(); ++length) {
    EXPECT_FALSE(read<Node>(text.substr(0, length))) << length;
  }
  must_read(text);
}

}  // namespace
}  // namespace gpupool::base::json
