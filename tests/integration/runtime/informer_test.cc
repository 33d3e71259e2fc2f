// SPDX-License-Identifier: Apache-2.0
#include "runtime/cache/informer.h"

#include <gmock/gmock.h>

#include <chrono>
#include <condition_variable>
#include <random>
#include <thread>

#include "tests/integration/kube/api_fixture.h"
#include "tests/integration/runtime/faulty_transport.h"

namespace gpupool::runtime {
namespace {

using std::chrono::seconds;
using test::ConfigMap;

constexpr seconds kHangLimit{60};

// An informer over the test's namespace, and what its handlers saw.
class InformerTest : public test::ApiTest {
 protected:
  void SetUp() override {
    ApiTest::SetUp();
    if (HasFatalFailure()) return;
    faulty_ = std::make_unique<test::FaultyTransport>(*transport_);
    watching_ = std::make_unique<kube::Client>(*faulty_, config_.tokens.get(), clock_, metrics_,
                                               kube::ClientOptions{});
    informer_ = std::make_unique<Informer<ConfigMap>>(*watching_, ReflectorOptions{.ns = ns_}, clock_,
                                                      metrics_, base::Log::none());
    informer_->on_change([this](const Change<ConfigMap>& change) {
      const std::scoped_lock lock(mutex_);
      ++changes_;
      if (change.initial) ++initial_;
      changed_.notify_all();
    });
  }
  void start() {
    runner_ = std::jthread([this](const std::stop_token& stop) { informer_->reflector().run(stop); });
  }
  void TearDown() override {
    runner_ = {};
    ApiTest::TearDown();
  }

  // Waits until the handlers have seen enough for `ready` to hold.
  [[nodiscard]] bool eventually(const std::function<bool()>& ready) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, kHangLimit, [&] { return informer_->synced() && ready(); });
  }
  // `synced` comes just after the last handler, so there is a last moment to poll for.
  [[nodiscard]] bool poll(const std::function<bool()>& ready) {
    const auto limit = clock_.now() + kHangLimit;
    while (!ready() && clock_.now() < limit) clock_.sleep_for(std::chrono::milliseconds(10), {});
    return ready();
  }
  std::string value(const std::string& name) {
    const auto object = informer_->store().get(key(name));
    return object ? object->data.at("k") : "none";
  }
  base::Result<std::string> set(const std::string& name, const std::string& value) {
    return client_->patch(ConfigMap::kType, key(name), kube::PatchType::kMerge,
                          R"({"data":{"k":")" + value + "\"}}", "", {});
  }
  // Name and version of each object.
  std::map<std::string, std::string> cached() {
    std::map<std::string, std::string> all;
    for (const auto& object : informer_->store().list()) {
      all[object->metadata.name] = object->metadata.uid + " " + object->metadata.resource_version;
    }
    return all;
  }
  std::map<std::string, std::string> listed() {
    std::map<std::string, std::string> all;
    const auto fresh = kube::list<ConfigMap>(*client_, ns_, {}, {});
    EXPECT_TRUE(fresh.has_value());
    for (const auto& object : *fresh)
      all[object.metadata.name] = object.metadata.uid + " " + object.metadata.resource_version;
    return all;
  }
  void write_at_random(unsigned seed, int writes) {
    std::mt19937 random(seed);
    for (int i = 0; i < writes; ++i) {
      const auto name = "m" + std::to_string(random() % 20);
      switch (random() % 3) {
        case 0:
          static_cast<void>(create_map(name));
          break;
        case 1:
          static_cast<void>(set(name, std::to_string(i)));
          break;
        default:
          static_cast<void>(client_->remove(ConfigMap::kType, key(name), {}, {}));
      }
    }
  }

  std::unique_ptr<test::FaultyTransport> faulty_;
  std::unique_ptr<kube::Client> watching_;
  std::unique_ptr<Informer<ConfigMap>> informer_;
  std::mutex mutex_;
  std::condition_variable changed_;
  int changes_ = 0;
  int initial_ = 0;
  std::jthread runner_;
};

TEST_F(InformerTest, SeesTheFirstListAndEachChangeAfterIt) {
  ASSERT_TRUE(create_map("first", "1").has_value());
  start();
  ASSERT_TRUE(poll([&] { return informer_->synced() && value("first") == "1"; }));
  ASSERT_TRUE(create_map("second", "2").has_value());
  ASSERT_TRUE(eventually([&] { return value("second") == "2"; }));
  ASSERT_TRUE(set("first", "changed").has_value());
  ASSERT_TRUE(eventually([&] { return value("first") == "changed"; }));
  ASSERT_TRUE(client_->remove(ConfigMap::kType, key("second"), {}, {}).has_value());
  ASSERT_TRUE(eventually([&] { return value("second") == "none"; }));
  EXPECT_EQ(cached(), listed());
}

TEST_F(InformerTest, AWatchThatTheServerEndsIsResumedWithoutAList) {
  faulty_->shorten_watches(2);
  start();
  ASSERT_TRUE(poll([&] { return informer_->synced(); }));
  ASSERT_TRUE(poll([&] { return faulty_->watches() >= 3; }));
  ASSERT_TRUE(create_map("late").has_value());
  ASSERT_TRUE(eventually([&] { return value("late") == "v"; }));
  EXPECT_EQ(faulty_->lists(), 1);
}

TEST_F(InformerTest, AnExpiredWatchIsListedAgainAndTellsWhatWasMissed) {
  ASSERT_TRUE(create_map("goes").has_value());
  ASSERT_TRUE(create_map("stays").has_value());
  faulty_->shorten_watches(1);
  start();
  ASSERT_TRUE(poll([&] { return informer_->synced() && cached().size() >= 2; }));
  faulty_->expire_next_watch();
  ASSERT_TRUE(poll([&] { return faulty_->lists() >= 2; }));
  ASSERT_TRUE(client_->remove(ConfigMap::kType, key("goes"), {}, {}).has_value());
  ASSERT_TRUE(eventually([&] { return value("goes") == "none"; }));
  EXPECT_EQ(cached(), listed());
}

TEST_F(InformerTest, ThreeThousandObjectsComeOneByOne) {
  constexpr int kObjects = 3000;
  {
    std::vector<std::jthread> writers;
    for (int writer = 0; writer < 4; ++writer) {
      writers.emplace_back([this, writer] {
        for (int i = writer; i < kObjects; i += 4) {
          if (!create_map("m" + std::to_string(i))) ADD_FAILURE() << "no object " << i;
        }
      });
    }
  }
  start();
  ASSERT_TRUE(poll([&] { return informer_->synced() && cached().size() >= kObjects; }));
  EXPECT_EQ(cached(), listed());
}

TEST_F(InformerTest, TheCacheIsTheServersStateInTheEndUnderWritersAndFaults) {
  const auto seed = std::random_device{}();
  SCOPED_TRACE("seed " + std::to_string(seed));
  faulty_->cut_watches_after(5000);
  start();
  {
    std::vector<std::jthread> writers;
    for (unsigned writer = 0; writer < 3; ++writer) {
      writers.emplace_back([this, seed, writer] { write_at_random(seed + writer, 200); });
    }
  }
  faulty_->cut_watches_after(0);
  EXPECT_GE(faulty_->cuts(), 1);
  const auto expected = listed();
  EXPECT_TRUE(poll([&] { return cached() == expected; })) << testing::PrintToString(cached()) << "\n"
                                                          << testing::PrintToString(expected);
}

}  // namespace
}  // namespace gpupool::runtime
