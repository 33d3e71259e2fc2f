// SPDX-License-Identifier: Apache-2.0
#include "report/report_body.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/support/manual_clock.h"
#include "tests/unit/device-plugin/report/facts.h"

namespace gpupool::report {
namespace {

using Json = nlohmann::json;
using testing::HasSubstr;
using testing::Not;

TEST(ReportBody, WhatIsWrittenIsReadBack) {
  auto facts = test::facts(2, 10);
  facts.holdings = {test::holding("train", {"0::1", "0::2"})};
  facts.health["GPU-1"] = test::unhealthy("Xid79", "fell off the bus");
  auto status = make_status(facts, "1.2.3");
  status.last_report = test::ManualClock::kWallStart;
  status.conditions[0].last_transition_time = test::ManualClock::kWallStart;
  const auto read = base::json::read<api::GpuNode>(status_body("17", status, test::telemetry({37, 0})));
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->metadata.resource_version, "17");
  EXPECT_EQ(read->status, status);
}

TEST(ReportBody, EmptyTextIsRemovedAboveAndAbsentInLists) {
  const auto body = status_body("17", make_status(test::facts(1, 10), "1.2.3"), {});
  EXPECT_THAT(body, HasSubstr(R"("message":null)"));
  EXPECT_THAT(body, Not(HasSubstr(R"("")")));
  EXPECT_THAT(body, Not(HasSubstr(R"("reason":null)")));
}

Json usage_in(const telemetry::Telemetry& telemetry, std::size_t gpu = 0) {
  return Json::parse(status_body("17", make_status(test::facts(2, 10), "1.2.3"), telemetry))
      .at("status")
      .at("gpus")
      .at(gpu)
      .value("usage", Json());
}

TEST(ReportBody, TelemetryOfEachGpuHasItsUnitsInTheNames) {
  EXPECT_EQ(usage_in(test::telemetry({37, 0})), Json::parse(R"({
      "utilizationPercent": 37, "memoryUsedMiB": 4000, "temperatureCelsius": 61, "powerMilliwatts": 250500,
      "busyMilliseconds": 3600000, "sampledMilliseconds": 7200000, "since": "2026-01-02T03:04:05Z"})"));
  const auto body = status_body("17", make_status(test::facts(2, 10), "1"), test::telemetry({37, 0}));
  const auto status = Json::parse(body).at("status");
  EXPECT_EQ(status.at("lastSample"), "2026-01-02T03:04:05Z");
  EXPECT_EQ(status.at("usage"), Json::parse(R"({"utilization": "19%", "memory": "7.8/31.3Gi"})"));
}

TEST(ReportBody, WhatAGpuDoesNotTellIsAbsent) {
  auto telemetry = test::telemetry({37, 0});
  telemetry.readings["GPU-0"] = {.temperature_celsius = 61};
  telemetry.busy.erase("GPU-0");
  EXPECT_EQ(usage_in(telemetry), Json::parse(R"({"temperatureCelsius": 61})"));
  telemetry.readings.erase("GPU-1");
  EXPECT_EQ(usage_in(telemetry, 1), Json::parse(R"({
      "busyMilliseconds": 3600000, "sampledMilliseconds": 7200000, "since": "2026-01-02T03:04:05Z"})"))
      << "counters stay while the GPU does not answer";
}

TEST(ReportBody, WithoutReadingsTheOldOnesAreRemoved) {
  const auto status = Json::parse(status_body("17", make_status(test::facts(1, 10), "1"), {})).at("status");
  EXPECT_EQ(status.at("lastSample"), Json());
  EXPECT_EQ(status.at("usage"), Json::parse(R"({"utilization": null, "memory": null})"));
  EXPECT_FALSE(status.at("gpus").at(0).contains("usage"));
}

TEST(ReportBody, ExcessesAreTold) {
  auto of = test::facts(1, 10);
  const base::WallTime since{std::chrono::seconds(1767323045)};
  of.excesses = {{"lab", "train-0", "uid-1", "GPU-0", 9000, 1600, since, true},
                 {"", "", "", "GPU-0", 17000, 16000, std::nullopt, false}};
  const auto body = status_body("17", make_status(of, "1"), {});
  const auto status = Json::parse(body).at("status");
  EXPECT_EQ(status.at("excesses"), Json::parse(R"([
      {"namespace": "lab", "pod": "train-0", "podUID": "uid-1", "device": "GPU-0", "usedMiB": 9000,
       "limitMiB": 1600, "since": "2026-01-02T03:04:05Z", "end": true},
      {"device": "GPU-0", "usedMiB": 17000, "limitMiB": 16000, "end": false}])"));
  const auto read = base::json::read<api::GpuNode>(body);
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->status.excesses, of.excesses);
}

TEST(ReportBody, WithoutAnExcessTheOldOnesAreRemoved) {
  const auto status = Json::parse(status_body("17", make_status(test::facts(1, 10), "1"), {})).at("status");
  EXPECT_EQ(status.at("excesses"), Json());
}

TEST(ReportBody, StrayBytesDoNotThrow) {
  Facts facts;
  facts.problem = "bad \xff byte";
  EXPECT_THAT(status_body("1", make_status(facts, "1.2.3"), {}), HasSubstr("bad \xEF\xBF\xBD byte"));
}

TEST(ReportBody, ANewObjectIsOwnedByItsNode) {
  const auto read = base::json::read<api::GpuNode>(new_node_body("na", "uid-1"));
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->metadata.name, "na");
  ASSERT_EQ(read->metadata.owner_references.size(), 1U);
  const auto& owner = read->metadata.owner_references[0];
  EXPECT_EQ(owner.kind + " " + owner.name + " " + owner.uid, "Node na uid-1");
}

TEST(ReportBody, AnOwnerIsOnlyReplacedInTheVersionThatWasRead) {
  const auto read = base::json::read<api::GpuNode>(owner_patch("17", "na", "uid-2"));
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->metadata.resource_version, "17");
  EXPECT_EQ(read->metadata.owner_references.at(0).uid, "uid-2");
}

}  // namespace
}  // namespace gpupool::report
