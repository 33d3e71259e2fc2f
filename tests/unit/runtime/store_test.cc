// SPDX-License-Identifier: Apache-2.0
#include "runtime/cache/store.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

#include "tests/unit/runtime/config_map.h"

namespace gpupool::runtime {
namespace {

using test::ConfigMap;
using testing::ElementsAre;
using testing::IsEmpty;

ConfigMap make(const std::string& name, const std::string& version, const std::string& color = "red",
               const std::string& uid = "1") {
  ConfigMap map;
  map.metadata.ns = "lab";
  map.metadata.name = name;
  map.metadata.uid = uid;
  map.metadata.resource_version = version;
  map.data["color"] = color;
  return map;
}

std::vector<Store<ConfigMap>::Ptr> shared(const std::vector<ConfigMap>& maps) {
  std::vector<Store<ConfigMap>::Ptr> all;
  for (const auto& map : maps) all.push_back(std::make_shared<const ConfigMap>(map));
  return all;
}

api::ObjectKey key(const std::string& name) { return {"lab", name}; }

std::vector<std::string> names(const std::vector<Store<ConfigMap>::Ptr>& objects) {
  std::vector<std::string> all;
  for (const auto& object : objects) all.push_back(object->metadata.name + object->metadata.resource_version);
  return all;
}

class StoreTest : public ::testing::Test {
 protected:
  StoreTest() {
    store_.add_index("color", [](const ConfigMap& map) -> std::vector<std::string> {
      const auto found = map.data.find("color");
      if (found == map.data.end()) return {};
      return {found->second};
    });
  }
  std::vector<std::string> colored(const std::string& color) const {
    return names(store_.by_index("color", color));
  }

  Store<ConfigMap> store_;
  StoreWriter<ConfigMap> writer_{store_};
};

TEST_F(StoreTest, ShowsTheLastStateInKeyOrder) {
  writer_.apply(make("b", "1"));
  writer_.apply(make("a", "2"));
  writer_.apply(make("b", "3"));
  EXPECT_THAT(names(store_.list()), ElementsAre("a2", "b3"));
  EXPECT_EQ(store_.size(), 2U);
  EXPECT_EQ(store_.get(key("b"))->metadata.resource_version, "3");
  EXPECT_EQ(store_.get(key("c")), nullptr);
}

TEST_F(StoreTest, TellsWhatAWriteChanged) {
  const auto added = writer_.apply(make("a", "1"));
  EXPECT_EQ(added.before, nullptr);
  EXPECT_EQ(added.after, store_.get(key("a")));
  const auto changed = writer_.apply(make("a", "2"));
  EXPECT_EQ(changed.before, added.after);
  EXPECT_EQ(changed.after->metadata.resource_version, "2");
  const auto removed = writer_.remove(key("a"));
  EXPECT_EQ(removed.before, changed.after);
  EXPECT_EQ(removed.after, nullptr);
  const auto nothing = writer_.remove(key("a"));
  EXPECT_EQ(nothing.before, nullptr);
  EXPECT_EQ(nothing.after, nullptr);
}

TEST_F(StoreTest, AReadObjectStaysAsItWas) {
  writer_.apply(make("a", "1"));
  const auto held = store_.get(key("a"));
  writer_.apply(make("a", "2"));
  writer_.remove(key("a"));
  EXPECT_EQ(held->metadata.resource_version, "1");
}

TEST_F(StoreTest, AnIndexFollowsTheObjects) {
  writer_.apply(make("b", "1", "red"));
  writer_.apply(make("a", "2", "red"));
  EXPECT_THAT(colored("red"), ElementsAre("a2", "b1"));
  writer_.apply(make("a", "3", "blue"));
  EXPECT_THAT(colored("red"), ElementsAre("b1"));
  EXPECT_THAT(colored("blue"), ElementsAre("a3"));
  writer_.remove(key("b"));
  EXPECT_THAT(colored("red"), IsEmpty());
  EXPECT_THROW(static_cast<void>(store_.by_index("size", "1")), std::out_of_range);
}

TEST_F(StoreTest, ReplaceHoldsExactlyTheNewObjects) {
  writer_.apply(make("gone", "1"));
  writer_.apply(make("same", "2"));
  writer_.apply(make("changed", "3", "red"));
  const auto same = store_.get(key("same"));
  const auto changes =
      writer_.replace(shared({make("same", "2"), make("changed", "9", "blue"), make("new", "5")}));
  EXPECT_THAT(names(store_.list()), ElementsAre("changed9", "new5", "same2"));
  EXPECT_EQ(store_.get(key("same")), same);
  ASSERT_EQ(changes.size(), 3U);
  EXPECT_EQ(changes[0].before->metadata.name, "gone");
  EXPECT_EQ(changes[0].after, nullptr);
  EXPECT_EQ(changes[1].before->metadata.resource_version, "3");
  EXPECT_EQ(changes[1].after->metadata.resource_version, "9");
  EXPECT_EQ(changes[2].before, nullptr);
  EXPECT_EQ(changes[2].after->metadata.name, "new");
  EXPECT_THAT(colored("red"), ElementsAre("new5", "same2"));
  EXPECT_THAT(colored("blue"), ElementsAre("changed9"));
}

TEST_F(StoreTest, ADifferentUidUnderOneVersionIsAChange) {
  writer_.apply(make("a", "1", "red", "first"));
  EXPECT_EQ(writer_.replace(shared({make("a", "1", "red", "second")})).size(), 1U);
}

// The pair changes together: a reader in the middle of a replace would see two versions.
TEST_F(StoreTest, ReadersSeeAReplaceAsOneStep) {
  writer_.replace(shared({make("a", "0"), make("b", "0")}));
  std::atomic<bool> torn = false;
  {
    std::vector<std::jthread> readers;
    for (int i = 0; i < 2; ++i) {
      readers.emplace_back([&](const std::stop_token& stop) {
        while (!stop.stop_requested()) {
          const auto all = store_.by_index("color", "red");
          if (all.size() != 2 || all[0]->metadata.resource_version != all[1]->metadata.resource_version)
            torn = true;
        }
      });
    }
    for (int i = 1; i <= 2000; ++i)
      writer_.replace(shared({make("a", std::to_string(i)), make("b", std::to_string(i))}));
  }
  EXPECT_FALSE(torn);
}

}  // namespace
}  // namespace gpupool::runtime
