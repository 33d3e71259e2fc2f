// SPDX-License-Identifier: Apache-2.0
#include "runtime/cache/informer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <thread>

#include "tests/support/manual_clock.h"
#include "tests/unit/runtime/config_map.h"
#include "tests/unit/runtime/scripted_transport.h"

namespace gpupool::test {

// Counts the objects that exist.
struct Life {
  Life() { most = std::max<int>(most, ++now); }
  Life(const Life& /*other*/) : Life() {}
  Life& operator=(const Life&) = default;
  ~Life() { --now; }
  static inline std::atomic<int> now = 0;
  static inline std::atomic<int> most = 0;
};

struct Counted {
  static constexpr api::ResourceType kType = ConfigMap::kType;
  api::ObjectMeta metadata;
  Life life = {};
};

}  // namespace gpupool::test

template <>
struct gpupool::base::json::Schema<gpupool::test::Counted> {
  using T = test::Counted;
  static constexpr auto fields = std::array{field<&T::metadata>("metadata")};
};

namespace gpupool::runtime {
namespace {

using test::ConfigMap;
using test::Counted;
using test::Life;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

std::string item(const std::string& name, const std::string& version,
                 const std::string& data = R"({"k":"v"})") {
  return R"({"metadata":{"namespace":"lab","name":")" + name + R"(","uid":"u-)" + name +
         R"(","resourceVersion":")" + version + R"("},"data":)" + data + "}";
}

std::string list(const std::string& version, const std::vector<std::string>& items) {
  std::string text;
  for (const auto& one : items) text += (text.empty() ? "" : ",") + one;
  return R"({"kind":"ConfigMapList","metadata":{"resourceVersion":")" + version + R"("},"items":[)" + text +
         "]}";
}

std::string line(const std::string& type, const std::string& object) {
  return R"({"type":")" + type + R"(","object":)" + object + "}";
}

constexpr char kGone[] = R"({"kind":"Status","code":410,"reason":"Expired","status":"Failure"})";

class InformerTest : public ::testing::Test {
 protected:
  InformerTest() {
    informer_.on_change([this](const Change<ConfigMap>& change) {
      const auto version = [](const auto& object) {
        return object ? object->metadata.resource_version : "-";
      };
      const auto& named = change.after ? change.after : change.before;
      changes_.push_back(named->metadata.name + " " + version(change.before) + ">" + version(change.after) +
                         (change.initial ? " initial" : ""));
      synced_in_handler_ = synced_in_handler_ || informer_.synced();
    });
  }
  void run(std::size_t pauses, std::size_t requests) {
    std::jthread thread([this](const std::stop_token& stop) { informer_.reflector().run(stop); });
    for (std::size_t i = 0; i < pauses; ++i) {
      EXPECT_TRUE(clock_.wait_for_waiters(1));
      EXPECT_TRUE(clock_.advance_to_next_deadline());
    }
    EXPECT_TRUE(transport_.wait_for_requests(requests));
  }
  std::vector<std::string> stored() const {
    std::vector<std::string> all;
    for (const auto& object : informer_.store().list()) {
      all.push_back(object->metadata.name + object->metadata.resource_version);
    }
    return all;
  }

  test::ManualClock clock_;
  base::Metrics metrics_;
  test::ScriptedTransport transport_;
  kube::Client client_{transport_, nullptr, clock_, metrics_, {.max_tries = 1}};
  Informer<ConfigMap> informer_{client_, {}, clock_, metrics_, base::Log::none()};
  std::vector<std::string> changes_;
  bool synced_in_handler_ = false;
};

TEST_F(InformerTest, TheFirstListIsInitialAndSyncedComesAfterTheHandlers) {
  transport_.answer(200, list("5", {item("a", "1"), item("b", "2")}));
  run(0, 2);
  EXPECT_THAT(changes_, ElementsAre("a ->1 initial", "b ->2 initial"));
  EXPECT_THAT(stored(), ElementsAre("a1", "b2"));
  EXPECT_TRUE(informer_.synced());
  EXPECT_FALSE(synced_in_handler_);
}

TEST_F(InformerTest, EventsChangeTheStoreThenTheHandlersSeeThem) {
  transport_.answer(200, list("5", {item("a", "1")}));
  transport_.lines(
      {line("ADDED", item("b", "6")), line("MODIFIED", item("a", "7")), line("DELETED", item("b", "8"))});
  run(0, 3);
  EXPECT_THAT(changes_, ElementsAre("a ->1 initial", "b ->6", "a 1>7", "b 6>-"));
  EXPECT_THAT(stored(), ElementsAre("a7"));
  EXPECT_EQ(informer_.store().get({"lab", "a"})->data.at("k"), "v");
  EXPECT_THAT(transport_.sent().at(2).target, HasSubstr("resourceVersion=8"));
}

TEST_F(InformerTest, ARelistTellsWhatChangedMeanwhileAndIsNotInitial) {
  transport_.answer(200, list("5", {item("a", "1"), item("b", "2"), item("c", "3")}));
  transport_.answer(410, kGone);
  transport_.answer(200, list("9", {item("a", "1"), item("c", "8"), item("d", "9")}));
  run(1, 4);
  EXPECT_THAT(changes_,
              ElementsAre("a ->1 initial", "b ->2 initial", "c ->3 initial", "b 2>-", "c 3>8", "d ->9"));
  EXPECT_THAT(stored(), ElementsAre("a1", "c8", "d9"));
}

TEST_F(InformerTest, WhatAListRepeatsIsNotHeldTwice) {
  constexpr int kObjects = 50;
  Informer<Counted> informer{client_, {}, clock_, metrics_, base::Log::none()};
  std::vector<std::string> items;
  for (int i = 0; i < kObjects; ++i) items.push_back(item("a" + std::to_string(i), "1"));
  transport_.answer(200, list("5", items));
  transport_.answer(410, kGone);
  transport_.answer(200, list("9", items));
  {
    std::jthread thread([&](const std::stop_token& stop) { informer.reflector().run(stop); });
    EXPECT_TRUE(clock_.wait_for_waiters(1));
    EXPECT_TRUE(clock_.advance_to_next_deadline());
    EXPECT_TRUE(transport_.wait_for_requests(4));
  }
  EXPECT_EQ(Life::now, kObjects);
  EXPECT_LT(Life::most, kObjects + 5);
}

TEST_F(InformerTest, AListThatBreaksOffLeavesTheStoreAsItWas) {
  transport_.answer(200, list("5", {item("a", "1"), item("b", "2")}));
  transport_.answer(410, kGone);
  const auto whole = list("9", {item("old", "3"), item("c", "4")});
  transport_.part(whole.substr(0, whole.size() - 20), base::ErrorCode::kTransport);
  run(1, 3);
  EXPECT_THAT(stored(), ElementsAre("a1", "b2"));
  EXPECT_EQ(changes_.size(), 2U);
}

TEST_F(InformerTest, AListThatBrokeOffLeavesNothingBehind) {
  transport_.part(R"({"items":[)" + item("old", "1") + ",", base::ErrorCode::kTransport);
  transport_.answer(200, list("9", {item("a", "1")}));
  run(1, 3);
  EXPECT_THAT(stored(), ElementsAre("a1"));
}

TEST_F(InformerTest, ABrokenItemDoesNotHideTheOthers) {
  transport_.answer(200, list("5", {item("a", "1"), item("b", "2", "[]"), item("c", "3")}));
  run(0, 2);
  EXPECT_THAT(stored(), ElementsAre("a1", "c3"));
  EXPECT_THAT(metrics_.expose(), HasSubstr("gpupool_watch_decode_errors_total{kind=\"ConfigMap\"} 1\n"));
}

TEST_F(InformerTest, AnObjectThatBecameBrokenIsNotDeleted) {
  transport_.answer(200, list("5", {item("a", "1"), item("b", "2")}));
  transport_.lines({line("MODIFIED", item("a", "6", "[]"))}, base::ErrorCode::kServer);
  transport_.answer(200, list("9", {item("a", "6", "[]"), item("b", "2")}));
  run(1, 4);
  EXPECT_THAT(stored(), ElementsAre("a1", "b2"));
  EXPECT_EQ(changes_.size(), 2U);
}

TEST_F(InformerTest, ABrokenObjectCanBeDeleted) {
  transport_.answer(200, list("5", {item("a", "1")}));
  transport_.lines({line("DELETED", item("a", "6", "[]")), line("DELETED", item("never-seen", "7"))});
  run(0, 3);
  EXPECT_THAT(stored(), IsEmpty());
  EXPECT_THAT(changes_, ElementsAre("a ->1 initial", "a 1>-"));
}

}  // namespace
}  // namespace gpupool::runtime
