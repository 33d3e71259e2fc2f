// SPDX-License-Identifier: Apache-2.0
#include "worker_logs/kept_choice.h"

#include <gtest/gtest.h>

namespace gpupool::logs {
namespace {

using Attempts = std::map<std::int64_t, Attempt>;

api::GpuJob job_of(std::int64_t attempts) {
  api::GpuJob job;
  job.status.attempts = attempts;
  return job;
}

// Leases 1, 2 and 4 of attempts 0, 1 and 2, newest first.
std::vector<KeptAttempt> kept_three() {
  return {{.lease = 4, .attempt = 2}, {.lease = 2, .attempt = 1}, {.lease = 1, .attempt = 0}};
}

std::vector<std::int64_t> leases(const std::vector<KeptAttempt>& kept) {
  std::vector<std::int64_t> found;
  for (const auto& one : kept) found.push_back(one.lease);
  return found;
}

TEST(KeptChoice, TheKeeperIsAskedForWhatHasNoPods) {
  const Attempts none;
  const Attempts last{{4, {.number = 2}}};
  EXPECT_FALSE(needs_keeper(job_of(0), none, {}));
  EXPECT_TRUE(needs_keeper(job_of(3), none, {}));
  EXPECT_FALSE(needs_keeper(job_of(3), last, {}));
  EXPECT_TRUE(needs_keeper(job_of(3), last, {.attempt = 1}));
  EXPECT_FALSE(needs_keeper(job_of(3), last, {.attempt = 2}));
  EXPECT_FALSE(needs_keeper(job_of(3), last, {.attempt = 3}));  // it has not begun
  EXPECT_TRUE(needs_keeper(job_of(3), last, {.all_attempts = true}));
  EXPECT_FALSE(needs_keeper(job_of(1), last, {.all_attempts = true}));
}

TEST(KeptChoice, AttemptsAreShownOldestFirst) {
  const Attempts last{{4, {.number = 2}}};
  EXPECT_EQ(leases(choose_kept(kept_three(), {}, {})), (std::vector<std::int64_t>{4}));
  EXPECT_EQ(leases(choose_kept(kept_three(), last, {})), (std::vector<std::int64_t>{}));
  EXPECT_EQ(leases(choose_kept(kept_three(), {}, {.all_attempts = true})),
            (std::vector<std::int64_t>{1, 2, 4}));
  EXPECT_EQ(leases(choose_kept(kept_three(), last, {.all_attempts = true})),
            (std::vector<std::int64_t>{1, 2}));
  EXPECT_EQ(leases(choose_kept(kept_three(), last, {.attempt = 0})), (std::vector<std::int64_t>{1}));
  EXPECT_EQ(leases(choose_kept(kept_three(), {}, {.attempt = 7})), (std::vector<std::int64_t>{}));
}

}  // namespace
}  // namespace gpupool::logs
