// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gmock/gmock.h>

#include "api/v1alpha1/reasons.h"
#include "planning/queue/verdict.h"

// Matches the answer to a job that waits for nodes.
namespace gpupool::test {

inline testing::Matcher<const planning::Verdict&> waits_with(const testing::Matcher<std::string>& message) {
  return testing::AllOf(testing::Field("nodes", &planning::Verdict::nodes, testing::IsEmpty()),
                        testing::Field("reason", &planning::Verdict::reason, api::reason::kWaitingForNodes),
                        testing::Field("message", &planning::Verdict::message, message));
}
inline auto WaitsBehindOthers() { return waits_with(testing::HasSubstr("jobs before it in the queue")); }
inline auto WaitsAsFirst() { return waits_with(testing::Not(testing::HasSubstr("jobs before it"))); }

}  // namespace gpupool::test
