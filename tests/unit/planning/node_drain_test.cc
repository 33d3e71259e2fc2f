// SPDX-License-Identifier: Apache-2.0
#include "planning/nodes/node_drain.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/v1alpha1/names.h"
#include "base/rfc3339.h"
#include "tests/unit/planning/builders.h"

namespace gpupool::planning {
namespace {

using testing::AllOf;
using testing::HasSubstr;

std::optional<NodeDrain> drain_with(const std::string& value) {
  auto node = test::make_node("a");
  node.metadata.annotations[api::kDrain] = value;
  return drain_of(node);
}

TEST(DrainOf, NeedsTheAnnotation) {
  auto node = test::make_node("a");
  node.spec.unschedulable = true;  // a cordon alone moves nobody
  node.metadata.annotations["gpupool.dev/drained"] = "";
  EXPECT_EQ(drain_of(node), std::nullopt);
}

TEST(DrainOf, AnEmptyValueHasNoDeadline) { EXPECT_EQ(drain_with(""), NodeDrain()); }

TEST(DrainOf, ReadsTheDeadline) {
  const NodeDrain expected{base::parse_rfc3339("2026-11-24T18:00:00Z"), ""};
  EXPECT_EQ(drain_with("2026-11-24T18:00:00Z"), expected);
  EXPECT_EQ(drain_with("2026-11-24T20:30:00+02:30"), expected);
  EXPECT_EQ(drain_with("2026-11-24T18:00:00.999Z"), expected) << "a status has whole seconds";
}

TEST(DrainOf, AnyOtherValueIsADrainWithoutDeadlineAndAProblem) {
  const auto drain = drain_with("tomorrow");
  ASSERT_TRUE(drain);
  EXPECT_EQ(drain->deadline, std::nullopt);
  EXPECT_EQ(drain->problem,
            "\"tomorrow\" is not an RFC 3339 time such as 2026-11-24T18:00:00Z; the drain has no deadline");
  for (const auto* wrong : {" ", "true", "2026-11-24", "2026-11-24T18:00:00", "1795629600", "18:00"})
    EXPECT_THAT(drain_with(wrong)->problem, HasSubstr(wrong));
}

TEST(DrainOf, AProblemIsShortAndPrintable) {
  EXPECT_THAT(drain_with(std::string(200'000, 'x'))->problem,
              AllOf(HasSubstr("xxx...\" is not"), testing::SizeIs(testing::Lt(200))));
  EXPECT_THAT(drain_with("\xc3\xbc\x1b[31m\"\\\xff\n")->problem, testing::StartsWith("\"??[31m????\" is"));
}

}  // namespace
}  // namespace gpupool::planning
