// SPDX-License-Identifier: Apache-2.0
#include "ingest/hello.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace gpupool::keeper {
namespace {

nlohmann::json good_hello() {
  return {{"version", 1}, {"namespace", "lab"}, {"uid", "u-1"}, {"lease", 4}, {"attempt", 2},
          {"job", "j"},   {"pool", "p.x"},      {"rank", 3},    {"ranks", 8}, {"key", "k1"}};
}

TEST(Hello, IsRead) {
  const auto hello = read_hello(good_hello().dump());
  ASSERT_TRUE(hello) << hello.error().message;
  EXPECT_EQ(hello->attempt.id, (AttemptId{"lab", "u-1", 4}));
  EXPECT_EQ(hello->attempt.attempt, 2);
  EXPECT_EQ(hello->attempt.job, "j");
  EXPECT_EQ(hello->attempt.pool, "p.x");
  EXPECT_EQ(hello->rank, 3);
  EXPECT_EQ(hello->attempt.ranks, 8);
  EXPECT_EQ(hello->key, "k1");
}

TEST(Hello, WhatCannotBeAFolderIsRefused) {
  for (const char* member : {"namespace", "uid", "job"}) {
    for (const char* name : {"", ".", "..", "../x", "a/b", "-a", "A", "a b", "a\n"}) {
      auto hello = good_hello();
      hello[member] = name;
      EXPECT_FALSE(read_hello(hello.dump())) << member << " " << name;
    }
  }
}

TEST(Hello, NumbersHaveLimits) {
  for (const auto& [member, value] :
       {std::pair{"rank", 8}, {"rank", -1}, {"ranks", 0}, {"ranks", 10'001}, {"lease", -1}, {"version", 2}}) {
    auto hello = good_hello();
    hello[member] = value;
    EXPECT_FALSE(read_hello(hello.dump())) << member << " " << value;
  }
  auto text = good_hello();
  text["lease"] = "4";
  EXPECT_FALSE(read_hello(text.dump()));
}

TEST(Hello, OtherBytesAreRefused) {
  for (const std::string& text : {std::string(), std::string("[]"), std::string("{"), std::string("\xff\xfe"),
                                  good_hello().dump() + std::string(4096, ' ')})
    EXPECT_FALSE(read_hello(text));
}

}  // namespace
}  // namespace gpupool::keeper
