// SPDX-License-Identifier: Apache-2.0
#include "kube/item_splitter.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <vector>

namespace gpupool::kube {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

struct Split {
  std::vector<std::string> items = {};
  base::Result<std::string> around = {};
};

// Feeds the text in pieces of these sizes, repeatedly.
Split split(std::string_view text, const std::vector<std::size_t>& sizes, std::size_t max = 1000) {
  ItemSplitter splitter(max);
  Split result;
  const auto take = [&](std::string_view item) { result.items.emplace_back(item); };
  for (std::size_t i = 0; !text.empty(); ++i) {
    const auto piece = text.substr(0, sizes[i % sizes.size()]);
    text.remove_prefix(piece.size());
    if (const auto fed = splitter.feed(piece, take); !fed) {
      result.around = tl::unexpected<base::Error>(fed.error());
      return result;
    }
  }
  result.around = splitter.finish();
  return result;
}

Split split(std::string_view text) { return split(text, {text.size() + 1}); }

TEST(ItemSplitter, FindsTheItemsWhereverTheyStand) {
  for (const auto* text : {R"({"kind":"L","metadata":{"resourceVersion":"7"},"items":[{"a":1},{"b":[]}]})",
                           R"({"items":[{"a":1},{"b":[]}],"kind":"L","metadata":{"resourceVersion":"7"}})",
                           R"({"kind":"L","items":[{"a":1},{"b":[]}],"metadata":{"resourceVersion":"7"}})"}) {
    const auto found = split(text);
    EXPECT_THAT(found.items, ElementsAre(R"({"a":1})", R"({"b":[]})"));
    ASSERT_TRUE(found.around) << found.around.error().message;
    EXPECT_THAT(*found.around, HasSubstr(R"("items":[])"));
    EXPECT_THAT(*found.around, HasSubstr(R"("metadata":{"resourceVersion":"7"})"));
  }
}

TEST(ItemSplitter, WhiteSpaceIsAllowedAnywhere) {
  const auto found = split(" \n{ \"items\" :\t[ {\"a\" : 1 }\r\n ,\n{}\n] , \"metadata\" : { } }\n ");
  EXPECT_THAT(found.items, ElementsAre("{\"a\" : 1 }", "{}"));
  EXPECT_EQ(found.around, "{ \"items\" :\t[] , \"metadata\" : { } }");
}

TEST(ItemSplitter, NoItemsAreNoItems) {
  for (const auto* text :
       {R"({"items":null})", R"({"items":[]})", R"({"items": [ ] })", "{}", R"({"a":[{}]})"}) {
    const auto found = split(text);
    EXPECT_THAT(found.items, IsEmpty()) << text;
    EXPECT_TRUE(found.around) << text;
  }
}

TEST(ItemSplitter, OnlyTheListsOwnItemsCount) {
  const auto found = split(
      R"({"metadata":{"items":[{"no":1}]},"a":[{"items":[{"no":2}]}],"b":"items","items":[{"items":[{"c":3}]}]})");
  EXPECT_THAT(found.items, ElementsAre(R"({"items":[{"c":3}]})"));
  EXPECT_TRUE(found.around);
  EXPECT_THAT(split(R"({"it\u0065ms":[{}],"\\items":[1]})").items, ElementsAre("{}"));
}

TEST(ItemSplitter, BracketsAndQuotesInStringsAreText) {
  const auto item = std::string(R"({"a]}":"}]{[,\"}\\","b":"\\\\\""})");
  const auto found = split(R"({"x":"]}\"","items":[)" + item + "," + item + "]}");
  EXPECT_THAT(found.items, ElementsAre(item, item));
  EXPECT_TRUE(found.around);
}

TEST(ItemSplitter, WhatIsNoListIsAnError) {
  for (const auto* text : {"",
                           " ",
                           "[]",
                           "x",
                           "{",
                           R"({"items":[{"a":1},{"b":2}])",
                           R"({"items":[{"a":1},{"b":2)",
                           R"({"items":[{"a":1}], "metadata":{"resourceVersion":"7"})",
                           R"({"items":[{}}})",
                           R"({"items":[{]})",
                           R"({"items":[{"a":[}]}]})",
                           R"({"items":[{"a":[},{"b":]}]})",
                           R"({"items":[{},]})",
                           R"({"items":[,{}]})",
                           R"({"items":[{}{}]})",
                           R"({"items":[{} 1]})",
                           R"({"items":[1]})",
                           R"({"items":["a"]})",
                           R"({"items":[null]})",
                           R"({"items":[[]]})",
                           R"({"items":[]}x)",
                           R"({"items":[]}{)",
                           R"({"items":[],"items":[]})",
                           R"({]})"}) {
    const auto found = split(text).around;
    ASSERT_FALSE(found) << text;
    EXPECT_EQ(found.error().code, base::ErrorCode::kParse);
  }
}

TEST(ItemSplitter, AfterAnErrorNothingIsDelivered) {
  ItemSplitter splitter;
  int items = 0;
  const auto count = [&](std::string_view) { ++items; };
  EXPECT_FALSE(splitter.feed(R"({"items":[{}1)", count));
  EXPECT_FALSE(splitter.feed(R"(,{},{}]})", count));
  EXPECT_FALSE(splitter.finish());
  EXPECT_EQ(items, 1);
}

TEST(ItemSplitter, AnItemAtTheLimitPassesAndALongerOneDoesNot) {
  for (const std::size_t size : {1U, 3U, 100U}) {
    EXPECT_THAT(split(R"({"items":[{"a":1},{"b":2}]})", {size}, 7).items.size(), 2U);
    const auto found = split(R"({"items":[{"a":1},{"b":22}]})", {size}, 7);
    ASSERT_FALSE(found.around);
    EXPECT_EQ(found.around.error().message, "an item is longer than 7 bytes");
    EXPECT_THAT(found.items, ElementsAre(R"({"a":1})"));
  }
}

TEST(ItemSplitter, WhatIsAroundTheItemsHasALimit) {
  const auto found = split(R"({"a":")" + std::string(std::size_t{1} << 20, 'x') + R"("})");
  ASSERT_FALSE(found.around);
  EXPECT_THAT(found.around.error().message, HasSubstr("around"));
}

template <class T>
std::vector<T> few(const rc::Gen<T>& one, std::size_t least = 0) {
  std::vector<T> all;
  const auto count = *rc::gen::inRange<std::size_t>(least, 5);
  while (all.size() < count) all.push_back(*one);
  return all;
}

// Returns a string with all special characters.
std::string some_text() {
  std::string text = "\"";
  for (const auto& part : few(rc::gen::elementOf(
           std::vector<std::string>{"{", "}", "[", "]", ",", ":", " ", "\\\"", "\\\\", "items"}))) {
    text += part;
  }
  return text + "\"";
}

std::string some_object(int depth) {
  std::string object = "{";
  for (const auto what : few(rc::gen::inRange(0, depth == 0 ? 1 : 3))) {
    object += (object.size() == 1 ? "\"items\":" : ",\"k\": ");
    object += what == 0   ? some_text()
              : what == 1 ? some_object(depth - 1)
                          : "[" + some_object(depth - 1) + " ,1]";
  }
  return object + "}";
}

std::vector<std::size_t> some_sizes() { return few(rc::gen::inRange<std::size_t>(1, 9), 1); }

RC_GTEST_PROP(ItemSplitterProperty, CuttingTheTextDoesNotMatter, ()) {
  std::vector<std::string> items(*rc::gen::inRange<std::size_t>(0, 4));
  for (auto& item : items) item = some_object(2);
  std::string text = R"({"metadata":)" + some_object(1) + R"(,"items":[)";
  for (const auto& item : items) text += (text.back() == '[' ? "" : ", ") + item;
  text += R"(],"more":)" + some_object(1) + "}";
  const auto found = split(text, some_sizes(), text.size());
  RC_ASSERT(found.around.has_value());
  RC_ASSERT(found.items == items);
}

// Mutations of a valid list: the result does not depend on how the text is cut into pieces.
RC_GTEST_PROP(ItemSplitterProperty, ABrokenListIsBrokenHoweverItIsCut, ()) {
  std::string text = R"({"metadata":{"a":[1]},"items":[{"a":"}\""},{"items":[{}]}],"b":"c"})";
  const auto changes = *rc::gen::inRange(1, 4);
  for (int i = 0; i < changes; ++i) {
    const auto at = *rc::gen::inRange<std::size_t>(0, text.size());
    const auto c = *rc::gen::element('{', '}', '[', ']', '"', '\\', ',', ':', ' ', 'x');
    if (*rc::gen::arbitrary<bool>()) {
      text[at] = c;
    } else {
      text.erase(at, *rc::gen::inRange<std::size_t>(1, 4));
    }
    if (text.empty()) break;
  }
  const auto whole = split(text);
  const auto parts = split(text, some_sizes());
  RC_ASSERT(whole.items == parts.items);
  RC_ASSERT(whole.around.has_value() == parts.around.has_value());
  RC_ASSERT(!whole.around || *whole.around == *parts.around);
}

}  // namespace
}  // namespace gpupool::kube
