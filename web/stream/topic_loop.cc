// SPDX-License-Identifier: Apache-2.0
#include "stream/topic_loop.h"

#include <algorithm>
#include <optional>
#include <random>

#include "base/backoff.h"
#include "kube/api_error.h"
#include "stream/messages.h"

namespace gpupool::web {
namespace {

using std::chrono::seconds;

constexpr seconds kRefusedFor{30};
constexpr base::Backoff::Limits kAway{
    .initial = seconds(1), .cap = seconds(30), .jitter = 0.3, .reset_after = seconds(60)};

}  // namespace

void repeat(const Topic& topic, Outbox& outbox, base::Clock& clock,
            const std::function<base::Result<void>()>& once, const std::stop_token& stop) {
  base::Backoff backoff(kAway, std::random_device{}());
  while (!stop.stop_requested()) {
    const auto done = once();
    if (stop.stop_requested()) return;
    if (done || done.error().code == base::ErrorCode::kExpired) {
      // The server ends each watch after a while.
      if (!clock.sleep_for(seconds(1), stop)) return;
      continue;
    }
    const base::Error& error = done.error();
    if (!outbox.push(error_message(topic.id, error), stop)) return;
    if (error.code == base::ErrorCode::kUnauthorized) return;
    const base::Duration pause = kube::is_refusal(error) ? kRefusedFor : backoff.next(clock.now());
    if (!clock.sleep_for(std::max<base::Duration>(pause, error.retry_after.value_or(seconds(0))), stop))
      return;
  }
}

}  // namespace gpupool::web
