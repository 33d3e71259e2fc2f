// SPDX-License-Identifier: Apache-2.0
#include "transfer/pace.h"

#include <algorithm>
#include <random>
#include <string>

namespace gpupool::carry {

using std::chrono::milliseconds;

const Waiting& real_waiting() {
  static base::SystemClock clock;
  static const Waiting waiting{&clock, [] {
                                 thread_local std::minstd_rand engine{std::random_device{}()};
                                 return std::uniform_real_distribution<double>(0, 1)(engine);
                               }};
  return waiting;
}

milliseconds Pace::left() const {
  return std::chrono::duration_cast<milliseconds>(deadline_ - waiting_.clock->now());
}

Outcome<void> Pace::wait(const Failure& last, std::optional<milliseconds> least, std::stop_token stop) {
  constexpr double kFirstMs = 200;
  constexpr double kCapMs = 20'000;
  constexpr int kEnoughDoublings = 7;
  if (last.kind != FailureKind::kUnavailable) return tl::unexpected(last);
  ++tries_;
  const double most =
      std::min(kCapMs, kFirstMs * static_cast<double>(1U << static_cast<unsigned>(failures_)));
  failures_ = std::min(failures_ + 1, kEnoughDoublings);
  const auto delay = std::max(milliseconds(static_cast<std::int64_t>(most * waiting_.random())),
                              least.value_or(milliseconds(0)));
  if (delay >= left()) {
    const std::string tries = tries_ == 1 ? " (tried once" : " (tried " + std::to_string(tries_) + " times";
    return failed(FailureKind::kUnavailable, last.message + tries + ", and the time is over)");
  }
  if (!waiting_.clock->sleep_for(delay, std::move(stop))) return failed(FailureKind::kStopped, "stopped");
  return {};
}

}  // namespace gpupool::carry
