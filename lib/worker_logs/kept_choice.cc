// SPDX-License-Identifier: Apache-2.0
#include "worker_logs/kept_choice.h"

#include <algorithm>

namespace gpupool::logs {
namespace {

using Attempts = std::map<std::int64_t, Attempt>;

bool is_of(const Attempts& attempts, std::int64_t number) {
  return std::ranges::any_of(attempts, [&](const auto& one) { return one.second.number == number; });
}

}  // namespace

bool needs_keeper(const api::GpuJob& job, const Attempts& attempts, const Wanted& wanted) {
  const auto begun = job.status.attempts;
  if (wanted.attempt) return *wanted.attempt < begun && !is_of(attempts, *wanted.attempt);
  if (wanted.all_attempts) return begun > static_cast<std::int64_t>(attempts.size());
  return begun > 0 && attempts.empty();
}

std::vector<KeptAttempt> choose_kept(const std::vector<KeptAttempt>& kept, const Attempts& attempts,
                                     const Wanted& wanted) {
  std::vector<KeptAttempt> chosen;
  for (const KeptAttempt& one : kept) {
    if (attempts.contains(one.lease)) continue;
    if (wanted.attempt && one.attempt != *wanted.attempt) continue;
    chosen.push_back(one);
    if (!wanted.attempt && !wanted.all_attempts) break;
  }
  if (!wanted.attempt && !wanted.all_attempts && !attempts.empty()) chosen.clear();
  std::ranges::reverse(chosen);
  return chosen;
}

}  // namespace gpupool::logs
