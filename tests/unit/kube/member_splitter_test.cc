// SPDX-License-Identifier: Apache-2.0
#include "kube/member_splitter.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>

namespace gpupool::kube {
namespace {

using Members = std::map<std::string, std::string>;

base::Result<Members> split(std::string_view text, std::size_t piece, std::size_t max = 100) {
  Members found;
  MemberSplitter splitter("defs", [](const std::string& name) { return name != "unwanted"; }, max);
  for (; !text.empty(); text.remove_prefix(std::min(piece, text.size()))) {
    const auto done = splitter.feed(
        text.substr(0, piece), [&](const std::string& name, std::string_view value) { found[name] = value; });
    if (!done) return tl::unexpected<base::Error>(done.error());
  }
  if (auto done = splitter.finish(); !done) return tl::unexpected<base::Error>(done.error());
  return found;
}

TEST(MemberSplitter, PicksTheMembersOfOneObjectWhateverThePieces) {
  const std::string text = R"({"paths":{"defs":{"x":{}}},"list":["defs",{"defs":1}],
    "defs" : {"a":{"b":[1,{"c":"},\"]"}]}, "unwanted":{"d":{}}, "e\\" : "{,}" ,"f":2},"after":{"g":3}})";
  const Members wanted = {{"a", R"({"b":[1,{"c":"},\"]"}]})"}, {"e\\\\", R"( "{,}" )"}, {"f", "2"}};
  for (const std::size_t piece : {1U, 2U, 3U, 7U, 1000U}) {
    const auto found = split(text, piece);
    ASSERT_TRUE(found.has_value()) << found.error().message;
    EXPECT_EQ(*found, wanted) << "pieces of " << piece;
  }
}

TEST(MemberSplitter, RefusesWhatIsNoDocument) {
  for (const auto* text : {"", "[]", R"({"defs":{"a":1})", R"({"a":]})", "{}{}", R"({"a":"})"}) {
    EXPECT_FALSE(split(text, 4).has_value()) << text;
  }
  EXPECT_TRUE(split("{}", 4).has_value());
}

TEST(MemberSplitter, BoundsAValue) {
  const auto text = R"({"defs":{"a":")" + std::string(50, 'x') + R"("}})";
  EXPECT_TRUE(split(text, 8, 52).has_value());
  EXPECT_FALSE(split(text, 8, 51).has_value());
  const auto skipped = R"({"defs":{"unwanted":")" + std::string(500, 'x') + R"("}})";
  EXPECT_TRUE(split(skipped, 8, 10).has_value()) << "what is not picked is not kept";
}

}  // namespace
}  // namespace gpupool::kube
