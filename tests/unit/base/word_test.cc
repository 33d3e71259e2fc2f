// SPDX-License-Identifier: Apache-2.0
#include "base/word.h"

#include <gtest/gtest.h>

#include "base/boxed.h"
#include "base/json.h"

namespace gpupool::base {
namespace {

const std::string kShort = "fifteen letters";
const std::string kLong = "sixteen letters!";

TEST(Word, IsHalfAsBigAsAString) {
  EXPECT_EQ(kShort.size(), 15U);
  EXPECT_EQ(sizeof(Word), 16U);
}

TEST(Word, HoldsWhatItIsGiven) {
  for (const auto& text : {std::string(), std::string("a"), kShort, kLong, std::string(5000, 'x'),
                           std::string("nul\0inside", 10)}) {
    const Word word(text);
    EXPECT_EQ(word, text);
    EXPECT_EQ(word.string(), text);
    EXPECT_EQ(word.empty(), text.empty());
  }
}

TEST(Word, CopiesAndMovesAreItsOwn) {
  for (const auto& text : {kShort, kLong}) {
    Word a(text);
    Word copy(a);
    Word moved(std::move(a));
    EXPECT_EQ(copy, text);
    EXPECT_EQ(moved, text);
    a = copy;
    copy = "other, and longer than that";
    EXPECT_EQ(a, text);
    EXPECT_EQ(copy, "other, and longer than that");
    copy = std::move(a);
    EXPECT_EQ(copy, text);
    auto& same = copy;
    copy = same;
    EXPECT_EQ(copy, text);
  }
}

TEST(Word, DiffersFromOthers) {
  EXPECT_NE(Word("a"), Word("b"));
  EXPECT_NE(Word(kShort), kLong);
  EXPECT_EQ(Word(kLong), Word(kLong));
  EXPECT_NE(Word("a"), "b");
}

struct Line {
  Word word;
  Boxed<std::string> box;
};

TEST(Boxed, CopiesCopyTheValue) {
  Boxed<std::string> a("x");
  auto copy = a;
  *copy += "y";
  EXPECT_EQ(*a, "x");
  EXPECT_EQ(*copy, "xy");
  EXPECT_NE(a, copy);
  a = copy;
  EXPECT_EQ(a, copy);
  a.reset();
  EXPECT_FALSE(a.has_value());
  EXPECT_NE(a, copy);
  EXPECT_EQ(a, Boxed<std::string>());
  a = copy;
  const auto& same = a;
  a = same;
  EXPECT_EQ(*a, "xy");
}

}  // namespace

template <>
struct json::Schema<Line> {
  static constexpr auto fields = std::array{json::field<&Line::word>("word"), json::field<&Line::box>("box")};
};

namespace {

TEST(Word, IsReadFromJson) {
  const auto line = json::read<Line>(R"({"word":"sixteen letters!","box":"b"})");
  ASSERT_TRUE(line) << line.error().message;
  EXPECT_EQ(line->word, kLong);
  EXPECT_EQ(line->box, Boxed<std::string>("b"));
  EXPECT_FALSE(json::read<Line>("{}")->box);
  EXPECT_FALSE(json::read<Line>(R"({"word":3})"));
}

}  // namespace
}  // namespace gpupool::base
