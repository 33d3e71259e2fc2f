// SPDX-License-Identifier: Apache-2.0
#include "net/query.h"

#include <gtest/gtest.h>

#include "net/bearer_token.h"

namespace gpupool::net {
namespace {

using Parameters = std::map<std::string, std::string>;

TEST(Query, ParametersAreDecoded) {
  EXPECT_EQ(read_query(""), Parameters());
  EXPECT_EQ(read_query("a=1&b=x%20%26y&c&d=&a=2"),
            (Parameters{{"a", "2"}, {"b", "x &y"}, {"c", ""}, {"d", ""}}));
  EXPECT_EQ(read_query("t=2026-01-02T03%3A04%3a05Z&"), (Parameters{{"t", "2026-01-02T03:04:05Z"}}));
}

TEST(Query, WrongEscapesAreRefused) {
  for (const char* text : {"a=%", "a=%4", "a=%zz", "%=1", "a=%-1", "a=% 1"})
    EXPECT_FALSE(read_query(text)) << text;
}

TEST(BearerToken, IsTheWordBehindBearer) {
  EXPECT_EQ(bearer_token("Bearer abc.D-_~+/="), "abc.D-_~+/=");
  for (const char* text :
       {"", "Bearer", "Bearer ", "bearer abc", "Basic abc", "Bearer a b", "Bearer a\r\nX: y"})
    EXPECT_FALSE(bearer_token(text)) << text;
  EXPECT_FALSE(bearer_token("Bearer " + std::string(16385, 'a')));
}

}  // namespace
}  // namespace gpupool::net
