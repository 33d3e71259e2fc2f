// SPDX-License-Identifier: Apache-2.0
#include "runtime/events/event.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace gpupool::runtime {
namespace {

Event sample() {
  return {.regarding = {.api_version = "gpupool.dev/v1alpha1",
                        .kind = "GpuJob",
                        .key = {"lab", "resnet"},
                        .uid = "u1",
                        .resource_version = "7"},
          .type = EventType::kWarning,
          .reason = "AttemptFailed",
          .action = "Restart",
          .note = "rank 3 said \"no\"",
          .time = base::WallTime(std::chrono::seconds(1767323045))};
}

TEST(Event, BodyIsAnEventOfEventsV1) {
  const auto body =
      nlohmann::json::parse(event_body(sample(), {"gpupool.dev/operator", "pod-1"}, {"lab", "resnet.1"}));
  const auto expected = nlohmann::json::parse(R"({
    "apiVersion": "events.k8s.io/v1", "kind": "Event", "metadata": {"name": "resnet.1", "namespace": "lab"},
    "eventTime": "2026-01-02T03:04:05.000000Z", "reportingController": "gpupool.dev/operator",
    "reportingInstance": "pod-1", "action": "Restart", "reason": "AttemptFailed", "note": "rank 3 said \"no\"",
    "type": "Warning", "regarding": {"apiVersion": "gpupool.dev/v1alpha1", "kind": "GpuJob", "namespace": "lab",
                                     "name": "resnet", "uid": "u1", "resourceVersion": "7"}})");
  EXPECT_EQ(body, expected);
}

TEST(Event, AboutAClusterScopedObjectNamesNoNamespace) {
  auto event = sample();
  event.regarding.key.ns.clear();
  event.type = EventType::kNormal;
  const auto body = nlohmann::json::parse(event_body(event, {"c", "i"}, {"default", "resnet.1"}));
  EXPECT_EQ(body["metadata"]["namespace"], "default");
  EXPECT_FALSE(body["regarding"].contains("namespace"));
  EXPECT_EQ(body["type"], "Normal");
}

TEST(Event, NameIsTheObjectsWithTheTimeInHex) {
  EXPECT_EQ(event_name(sample(), 0x18c2d), "resnet.18c2d");
  auto event = sample();
  event.regarding.key.name = std::string(235, 'a') + "." + std::string(17, 'c');
  const auto name = event_name(event, 0x1234567890abcdef);
  // Not "aaa..1234": the cut may be at a dot.
  EXPECT_EQ(name, std::string(235, 'a') + ".1234567890abcdef");
  event.regarding.key.name = std::string(253, 'a');
  EXPECT_EQ(event_name(event, 0x1234567890abcdef).size(), 253U);
}

TEST(Event, NotesAreCutBetweenCharacters) {
  EXPECT_EQ(cut_note(std::string(1024, 'a')).size(), 1024U);
  EXPECT_EQ(cut_note(std::string(1025, 'a')).size(), 1024U);
  EXPECT_EQ(cut_note(std::string(1023, 'a') + "ü"), std::string(1023, 'a'));
}

TEST(Event, SeriesPatchSaysCountAndTime) {
  EXPECT_EQ(series_patch(3, sample().time),
            R"({"series":{"count":3,"lastObservedTime":"2026-01-02T03:04:05.000000Z"}})");
}

}  // namespace
}  // namespace gpupool::runtime
