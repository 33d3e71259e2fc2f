// SPDX-License-Identifier: Apache-2.0
#include "report/usage_text.h"

#include <gtest/gtest.h>

#include "report/node_report.h"
#include "tests/unit/device-plugin/report/facts.h"

namespace gpupool::report {
namespace {

UsageText text_of(std::int64_t gpus, const telemetry::Telemetry& telemetry) {
  return describe_usage(make_status(test::facts(gpus, 10), "1"), telemetry);
}

TEST(UsageText, IsTheMeanAndTheSumOfTheGpus) {
  const auto text = text_of(3, test::telemetry({100, 50, 1}));
  EXPECT_EQ(text.utilization, "50%");
  EXPECT_EQ(text.memory, "11.7/46.9Gi");
}

TEST(UsageText, WholeNumbersHaveNoFraction) {
  auto telemetry = test::telemetry({0});
  telemetry.readings["GPU-0"].memory_used_mib = 2048;
  auto status = make_status(test::facts(1, 10), "1");
  status.gpus[0].memory_mib = 40960;
  const auto text = describe_usage(status, telemetry);
  EXPECT_EQ(text.utilization, "0%");
  EXPECT_EQ(text.memory, "2/40Gi");
}

TEST(UsageText, GpusThatDoNotTellAreLeftOut) {
  auto telemetry = test::telemetry({100, 50, 0});
  telemetry.readings["GPU-2"] = {};
  const auto text = text_of(4, telemetry);
  EXPECT_EQ(text.utilization, "75%");
  EXPECT_EQ(text.memory, "7.8/31.3Gi");
}

TEST(UsageText, IsEmptyIfNoGpuTells) {
  EXPECT_EQ(text_of(2, {}).utilization, "");
  EXPECT_EQ(text_of(2, {}).memory, "");
}

}  // namespace
}  // namespace gpupool::report
