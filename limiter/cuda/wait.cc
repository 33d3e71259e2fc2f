// SPDX-License-Identifier: Apache-2.0
#include "limiter/cuda/wait.h"

#include <algorithm>

#include "limiter/cuda/session.h"
#include "limiter/region/leaving.h"
#include "limiter/region/monotonic.h"

namespace gpupool::limiter {

namespace {

constexpr std::uint64_t kSecond = 1'000'000'000;
constexpr std::uint64_t kFirstPause = 2'000'000;
constexpr std::uint64_t kLongestPause = 100'000'000;  // how often the device plugin looks at those who wait

}  // namespace

Patience::Patience(unsigned position, std::uint64_t bytes)
    : position_(position), bytes_(bytes), began_ns_(monotonic_ns()), pause_ns_(kFirstPause) {}

Patience::~Patience() {
  if (ticket_ != 0) {
    session.ledger().end_wait(position_, ticket_);
  }
}

bool Patience::pause() {
  Ledger& ledger = session.ledger();
  const std::uint64_t now = monotonic_ns();
  const std::uint64_t reaped = ledger.last_reap_ns();
  if (reaped != 0 && now - reaped < kDriverFreesWithin) {
    sleep_ns(pause_ns_);
    pause_ns_ = std::min(pause_ns_ * 2, kLongestPause);
    return true;
  }
  const std::uint64_t longest = ledger.limits().wait_seconds * kSecond;
  if (now - began_ns_ >= longest) {
    return false;
  }
  if (ticket_ == 0) {
    ticket_ = ledger.begin_wait(position_, bytes_);
    // Another thread or process of the container waits already: this one gets its turn or the time-out.
  }
  if (ticket_ != 0 && ledger.wait_refused(position_, ticket_)) {
    return false;
  }
  sleep_ns(std::min(pause_ns_, longest - (now - began_ns_)));
  pause_ns_ = std::min(pause_ns_ * 2, kLongestPause);
  return true;
}

}  // namespace gpupool::limiter
