// SPDX-License-Identifier: Apache-2.0
#include "stream/topic.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace gpupool::web {
namespace {

TEST(Topics, AreRead) {
  const auto topics = read_topics(
      R"({"topics":[{"id":"a","table":"gpujobs","namespace":"lab"},{"id":"b","objects":"gpupools"},
          {"id":"c","log":true,"namespace":"lab","name":"resnet","ranks":"0,2-3","attempt":1,"tail":50},
          {"id":"d","objects":"events","namespace":"lab","involved":"11111111-2222-3333-4444-555555555555"}]})");
  ASSERT_TRUE(topics) << topics.error().message;
  ASSERT_EQ(topics->size(), 4U);
  EXPECT_EQ((*topics)[0].kind, Topic::Kind::kTable);
  EXPECT_EQ((*topics)[0].type->plural, "gpujobs");
  EXPECT_EQ((*topics)[1].kind, Topic::Kind::kObjects);
  EXPECT_EQ((*topics)[2].ranks, "0,2-3");
  EXPECT_EQ((*topics)[2].attempt, 1);
  EXPECT_EQ((*topics)[2].tail, 50);
  EXPECT_EQ((*topics)[3].involved, "11111111-2222-3333-4444-555555555555");
}

TEST(Topics, WhatIsNotOursCannotBeWatched) {
  for (const char* topic :
       {R"({"id":"a","table":"secrets"})", R"({"id":"a","objects":"pods"})", R"({"id":"a"})",
        R"({"id":"","table":"gpujobs"})", R"({"id":"a b","table":"gpujobs"})", R"({"table":"gpujobs"})",
        R"({"id":"a","table":"gpujobs","namespace":"../x"})",
        R"({"id":"a","table":"gpujobs","namespace":"A"})",
        R"({"id":"a","objects":"gpujobs","name":"x/status"})", R"({"id":"a","objects":"events"})",
        R"({"id":"a","objects":"events","involved":"x,metadata.name=y"})", R"({"id":"a","log":true})",
        R"({"id":"a","log":true,"namespace":"lab","name":"x","tail":-1})",
        R"({"id":"a","log":true,"namespace":"lab","name":"x","tail":1000000})",
        R"({"id":"a","log":true,"namespace":"lab","name":"x","attempt":"0"})",
        R"({"id":1,"table":"gpujobs"})", "7"}) {
    const auto topics = read_topics(std::string(R"({"topics":[)") + topic + "]}");
    ASSERT_FALSE(topics) << topic;
    EXPECT_EQ(topics.error().code, base::ErrorCode::kInvalidArgument);
  }
}

TEST(Topics, AreBounded) {
  std::string many;
  for (int i = 0; i < 13; ++i)
    many += std::string(i == 0 ? "" : ",") + R"({"id":"t)" + std::to_string(i) + R"(","objects":"gpupools"})";
  EXPECT_FALSE(read_topics(R"({"topics":[)" + many + "]}"));
  EXPECT_FALSE(
      read_topics(R"({"topics":[{"id":"a","objects":"gpupools"},{"id":"a","objects":"gpunodes"}]})"));
  for (const char* body : {"", "[]", "{}", R"({"topics":1})", R"({"topics":[)"})
    EXPECT_FALSE(read_topics(body));
}

}  // namespace
}  // namespace gpupool::web
