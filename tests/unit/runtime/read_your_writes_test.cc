// SPDX-License-Identifier: Apache-2.0
#include "runtime/cache/read_your_writes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/manual_clock.h"
#include "tests/unit/runtime/config_map.h"
#include "tests/unit/runtime/scripted_transport.h"

namespace gpupool::runtime {
namespace {

using test::ConfigMap;
using testing::ElementsAre;
using testing::IsEmpty;

const api::ObjectKey kKey{"ns", "a"};

ConfigMap object(const std::string& uid, int version, const std::string& color = "red") {
  ConfigMap made;
  made.metadata.ns = "ns";
  made.metadata.name = "a";
  made.metadata.uid = uid;
  made.metadata.resource_version = std::to_string(version);
  made.metadata.labels["color"] = color;
  return made;
}

class ReadYourWritesTest : public testing::Test {
 protected:
  ReadYourWritesTest() {
    informer_.store().add_index(
        "color", [](const ConfigMap& each) { return std::vector{each.metadata.label("color")}; });
  }

  // Returns what is read as UID/version; empty: nothing.
  std::string read() const {
    const auto found = cache_.get(kKey);
    return found == nullptr ? "" : found->metadata.uid + "/" + found->metadata.resource_version;
  }
  std::vector<std::string> red() const {
    std::vector<std::string> names;
    for (const auto& each : cache_.by_index("color", "red")) names.push_back(each->metadata.resource_version);
    return names;
  }

  test::ScriptedTransport transport_;
  test::ManualClock clock_;
  base::Metrics metrics_;
  kube::Client client_{transport_, nullptr, clock_, metrics_, {}};
  Informer<ConfigMap> informer_{client_, {}, clock_, metrics_, base::Log::none()};
  ReadYourWrites<ConfigMap> cache_{informer_};
  using Creation = ReadYourWrites<ConfigMap>::Creation;
};

TEST_F(ReadYourWritesTest, ShowsAnAnswerUntilTheWatchShowsItOrALaterVersion) {
  informer_.apply(object("x", 5));
  cache_.answered(object("x", 7));
  EXPECT_EQ(read(), "x/7");
  informer_.apply(object("x", 6));
  EXPECT_EQ(read(), "x/7");
  informer_.apply(object("x", 8));
  EXPECT_EQ(read(), "x/8");
  EXPECT_THAT(red(), ElementsAre("8"));
}

TEST_F(ReadYourWritesTest, AnAnswerThatComesAfterTheWatchChangesNothing) {
  informer_.apply(object("x", 9));
  cache_.answered(object("x", 7));
  EXPECT_EQ(read(), "x/9");
  informer_.remove(kKey);
  cache_.answered(object("x", 8));
  EXPECT_EQ(read(), "") << "the cache had it, and has lost it";
}

TEST_F(ReadYourWritesTest, AnAnswerEndsWithItsObject) {
  informer_.apply(object("x", 5));
  cache_.answered(object("x", 7));
  informer_.remove(kKey);
  EXPECT_EQ(read(), "");
  informer_.apply(object("y", 9));
  EXPECT_EQ(read(), "y/9");
  cache_.answered(object("y", 12));
  informer_.apply(object("z", 11));  // deletion and new creation in one change
  EXPECT_EQ(read(), "z/11");
}

TEST_F(ReadYourWritesTest, WhatIsGoneIsNotShownUntilTheWatchHasAnother) {
  informer_.apply(object("x", 5));
  cache_.answered(object("x", 6));
  cache_.gone(kKey, "x");
  EXPECT_EQ(read(), "");
  EXPECT_THAT(cache_.list(), IsEmpty());
  EXPECT_THAT(red(), IsEmpty());
  informer_.apply(object("x", 7));
  EXPECT_EQ(read(), "") << "an event from before the deletion";
  informer_.apply(object("y", 9));
  EXPECT_EQ(read(), "y/9");
  cache_.gone(kKey, "x");
  EXPECT_EQ(read(), "y/9") << "another object of the name";
}

TEST_F(ReadYourWritesTest, ShowsWhatWasCreatedBeforeTheWatchDoes) {
  Creation creation(cache_, kKey);
  creation.created(object("x", 5));
  EXPECT_EQ(read(), "x/5");
  EXPECT_THAT(red(), ElementsAre("5"));
  EXPECT_THAT(cache_.by_index("color", "blue"), IsEmpty());
  cache_.answered(object("x", 6));
  EXPECT_EQ(read(), "x/6");
  informer_.apply(object("x", 5));
  EXPECT_EQ(read(), "x/6");
  informer_.remove(kKey);
  EXPECT_EQ(read(), "");
}

TEST_F(ReadYourWritesTest, WhatWasCreatedInPlaceOfAnotherIsShown) {
  informer_.apply(object("x", 5));
  Creation creation(cache_, kKey);
  creation.created(object("y", 8));
  EXPECT_EQ(read(), "y/8");
  informer_.remove(kKey);  // x
  EXPECT_EQ(read(), "y/8");
}

TEST_F(ReadYourWritesTest, WhatWasDeletedBeforeTheAnswerToItsCreationIsGone) {
  Creation creation(cache_, kKey);
  informer_.apply(object("x", 5));
  informer_.remove(kKey);
  creation.created(object("x", 5));
  EXPECT_EQ(read(), "");
}

TEST_F(ReadYourWritesTest, WhatWasCreatedAndDeletedUnseenStaysGoneWhenTheWatchShowsIt) {
  {
    Creation creation(cache_, kKey);
    creation.created(object("x", 5));
  }
  cache_.gone(kKey, "x");
  EXPECT_EQ(read(), "");
  informer_.apply(object("x", 5));
  EXPECT_EQ(read(), "");
  informer_.remove(kKey);
  informer_.apply(object("x", 5));  // a server that was restored from a backup
  EXPECT_EQ(read(), "x/5");
}

TEST_F(ReadYourWritesTest, AListEndsEveryAnswer) {
  informer_.apply(object("x", 5));
  cache_.answered(object("x", 7));
  transport_.answer(200,
                    R"({"metadata":{"resourceVersion":"4"},"items":[{"metadata":{"namespace":"ns","name":"a",
    "uid":"x","resourceVersion":"3","labels":{"color":"red"}}}]})");
  const std::jthread thread([&](std::stop_token stop) { informer_.reflector().run(std::move(stop)); });
  ASSERT_TRUE(
      transport_.wait_for_requests(2));  // the second request is the watch, so the list has been handled
  EXPECT_EQ(read(), "x/3") << "the server was restored from a backup";
}

TEST_F(ReadYourWritesTest, TellsOfEachWrite) {
  int told = 0;
  cache_.on_write([&](const api::ObjectKey& key) { told += key == kKey ? 1 : 100; });
  informer_.apply(object("x", 5));
  cache_.answered(object("x", 7));
  cache_.gone(kKey, "x");
  Creation(cache_, kKey).created(object("y", 9));
  EXPECT_EQ(told, 3);
}

}  // namespace
}  // namespace gpupool::runtime
