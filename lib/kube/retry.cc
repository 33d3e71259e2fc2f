// SPDX-License-Identifier: Apache-2.0
#include "kube/retry.h"

#include <algorithm>
#include <chrono>

namespace gpupool::kube {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kFirstDelay{100};
constexpr milliseconds kLongestDelay{5000};
// A longer Retry-After ends the tries: the caller's own backoff waits then, not a blocked thread.
constexpr milliseconds kLongestRetryAfter{30000};

bool may_send_again(bool is_read, const base::Error& error) {
  if (error.code == base::ErrorCode::kTooManyRequests) return true;
  if (error.code == base::ErrorCode::kTooLargeVersion) return false;
  if (!is_read) return error.http_status == 503 && error.retry_after.has_value();
  return error.code == base::ErrorCode::kTransport || error.http_status >= 500;
}

}  // namespace

std::optional<base::Duration> retry_delay(const RetryState& state, const base::Error& error) {
  if (state.tries_done >= state.max_tries || !may_send_again(state.is_read, error)) return std::nullopt;
  milliseconds delay = kFirstDelay;
  if (error.retry_after) {
    if (*error.retry_after > kLongestRetryAfter) return std::nullopt;
    delay = std::max(delay, *error.retry_after);
  } else {
    for (int i = 1; i < state.tries_done && delay < kLongestDelay; ++i) delay *= 2;
    delay = std::min(delay, kLongestDelay);
  }
  // The jitter only adds to the delay.
  return std::chrono::duration_cast<base::Duration>(delay * (1.0 + 0.5 * state.random));
}

}  // namespace gpupool::kube
