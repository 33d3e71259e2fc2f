// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include <thread>

#include "runtime/events/recorder.h"
#include "tests/integration/kube/api_fixture.h"

namespace gpupool::runtime {
namespace {

struct Series {
  std::int64_t count = 0;
};

// An event as core/v1 shows it, which is what `kubectl describe` reads.
struct CoreEvent {
  static constexpr api::ResourceType kType{"", "v1", "events", "Event", true};
  api::ObjectMeta metadata;
  std::string type;
  std::string reason;
  std::string message;
  std::string reporting_component;
  Series series;
};

}  // namespace
}  // namespace gpupool::runtime

namespace gpupool::base::json {

template <>
struct Schema<runtime::Series> {
  static constexpr auto fields = std::array{field<&runtime::Series::count>("count")};
};

template <>
struct Schema<runtime::CoreEvent> {
  using T = runtime::CoreEvent;
  static constexpr auto fields = std::array{
      field<&T::metadata>("metadata"), field<&T::type>("type"),
      field<&T::reason>("reason"),     field<&T::message>("message"),
      field<&T::series>("series"),     field<&T::reporting_component>("reportingComponent"),
  };
};

}  // namespace gpupool::base::json

namespace gpupool::runtime {
namespace {

using test::ConfigMap;

class EventTest : public test::ApiTest {
 protected:
  void SetUp() override {
    ApiTest::SetUp();
    if (HasFatalFailure()) return;
    recorder_ = std::make_unique<EventRecorder>(*client_, "gpupool.dev/operator", "test", clock_, metrics_,
                                                base::Log::none());
  }
  // Runs the recorder until everything that was recorded is sent.
  void send_all() {
    std::jthread runner([this](const std::stop_token& stop) { recorder_->run(stop); });
  }
  // As kubectl's describe selects them.
  std::vector<CoreEvent> described(const ObjectReference& object) {
    auto selector = "involvedObject.name=" + object.key.name + ",involvedObject.kind=" + object.kind +
                    ",involvedObject.uid=" + object.uid;
    if (!object.key.ns.empty()) selector += ",involvedObject.namespace=" + object.key.ns;
    const auto events = kube::list<CoreEvent>(*client_, object.key.ns, {.field_selector = selector}, {});
    EXPECT_TRUE(events.has_value()) << events.error().message;
    return events.value_or(std::vector<CoreEvent>{});
  }
  ObjectReference some_map() {
    const auto map = create_map("subject");
    EXPECT_TRUE(map.has_value());
    return {.api_version = "v1",
            .kind = "ConfigMap",
            .key = map->metadata.key(),
            .uid = map->metadata.uid,
            .resource_version = map->metadata.resource_version};
  }

  std::unique_ptr<EventRecorder> recorder_;
};

TEST_F(EventTest, DescribeShowsItOnceWithItsCount) {
  const auto subject = some_map();
  for (int i = 0; i < 2; ++i) {
    recorder_->record(subject, EventType::kWarning, "AttemptFailed", "Restart", "rank 3 exited with \"1\"");
  }
  recorder_->record(subject, EventType::kNormal, "Started", "Start", "all workers run");
  send_all();
  auto events = described(subject);
  ASSERT_EQ(events.size(), 2U);
  if (events[0].reason != "AttemptFailed") std::swap(events[0], events[1]);
  EXPECT_EQ(events[0].reason, "AttemptFailed");
  EXPECT_EQ(events[0].type, "Warning");
  EXPECT_EQ(events[0].message, "rank 3 exited with \"1\"");
  EXPECT_EQ(events[0].reporting_component, "gpupool.dev/operator");
  EXPECT_EQ(events[0].series.count, 2);
  EXPECT_EQ(events[1].message, "all workers run");
  EXPECT_EQ(events[1].type, "Normal");
}

TEST_F(EventTest, AClusterScopedObjectsEventIsFoundWithoutANamespace) {
  const ObjectReference pool{
      .api_version = "gpupool.dev/v1alpha1", .kind = "GpuPool", .key = {"", ns_}, .uid = ns_};
  recorder_->record(pool, EventType::kNormal, "Grew", "Adopt", "has 3 nodes");
  send_all();
  const auto events = described(pool);
  ASSERT_EQ(events.size(), 1U);
  EXPECT_EQ(events[0].message, "has 3 nodes");
  EXPECT_TRUE(client_->remove(CoreEvent::kType, events[0].metadata.key(), {}, {}).has_value());
}

TEST_F(EventTest, AnEventForANamespaceThatIsGoneIsDropped) {
  ObjectReference subject{.api_version = "v1", .kind = "ConfigMap", .key = {ns_ + "-gone", "a"}, .uid = "u"};
  recorder_->record(subject, EventType::kNormal, "Started", "Start", "x");
  subject = some_map();
  recorder_->record(subject, EventType::kNormal, "Started", "Start", "x");
  send_all();
  EXPECT_EQ(described(subject).size(), 1U);
}

}  // namespace
}  // namespace gpupool::runtime
