#include "report/report_body.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/manual_clock.h"
#include "tests/unit/device-plugin/report/facts.h"

namespace gpupool::report {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(ReportBody, WhatIsWrittenIsReadBack) {
  auto facts = test::facts(2, 10);
  facts.holdings = {test::holding("train", {"0::1", "0::2"})};
  facts.health["GPU-1"] = test::sick("Xid79", "fell off the bus");
  auto status = make_status(facts, "1.2.3");
  status.last_report = test::ManualClock::kWallStart;
  status.conditions[0].last_transition_time = test::ManualClock::kWallStart;
  const auto read = base::json::read<api::GpuNode>(status_body("17", status));
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->metadata.resource_version, "17");
  EXPECT_EQ(read->status, status);
}

TEST(ReportBody, EmptyTextIsRemovedAboveAndAbsentInLists) {
  const auto body = status_body("17", make_status(test::facts(1, 10), "1.2.3"));
  EXPECT_THAT(body, HasSubstr(R"("message":null)"));
  EXPECT_THAT(body, Not(HasSubstr(R"("")")));
  EXPECT_THAT(body, Not(HasSubstr(R"("reason":null)")));
}

TEST(ReportBody, StrayBytesDoNotThrow) {
  Facts facts;
  facts.problem = "bad \xff byte";
  EXPECT_THAT(status_body("1", make_status(facts, "1.2.3")), HasSubstr("bad \xEF\xBF\xBD byte"));
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
