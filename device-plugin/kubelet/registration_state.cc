// SPDX-License-Identifier: Apache-2.0
#include "kubelet/registration_state.h"

#include <algorithm>

namespace gpupool::kubelet {

namespace {

using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;

constexpr auto kLookAgain = seconds(1);       // inotify can lose events
constexpr auto kStreamExpected = seconds(5);  // after a registration
constexpr auto kStreamSettled = seconds(60);

}  // namespace

RegistrationState::RegistrationState(std::uint64_t seed)
    : absent_({.initial = milliseconds(100), .cap = milliseconds(700), .jitter = 0.4}, seed),
      nobody_({.initial = milliseconds(50), .cap = milliseconds(700), .jitter = 0.4}, seed + 1),
      refused_({.initial = seconds(1), .cap = minutes(1), .jitter = 0.5}, seed + 2),
      lost_({.initial = milliseconds(400), .factor = 3, .cap = minutes(5), .jitter = 0.5}, seed + 3) {}

RegistrationState::Next RegistrationState::next(const Sight& sight, base::SteadyTime now) {
  if (!sight.kubelet.exists()) {
    if (sight.streams_open == 0) registered_ = false;  // it has ended, and said so
    return {false, absent_.next(now)};
  }
  absent_.reset();
  if (sight.kubelet != kubelet_) {
    kubelet_ = sight.kubelet;
    registered_ = false;
    try_at_ = now;
    lost_in_a_row_ = 0;
    nobody_.reset();
    refused_.reset();
    lost_.reset();
  }
  if (registered_) return registered_next(sight, now);
  if (now < try_at_) return {false, std::min<base::Duration>(kLookAgain, try_at_ - now)};
  return {true, {}};
}

RegistrationState::Next RegistrationState::registered_next(const Sight& sight, base::SteadyTime now) {
  if (sight.streams_open > 0) {
    streaming_ = true;
    if (now - registered_at_ >= kStreamSettled) {
      lost_in_a_row_ = 0;
      lost_.reset();
    }
    return {false, kLookAgain};
  }
  const bool began = streaming_ || sight.streams_opened > 0;
  if (!began && now - registered_at_ < kStreamExpected) return {false, kLookAgain};
  lost(now);
  return {false, std::min<base::Duration>(kLookAgain, try_at_ - now)};
}

void RegistrationState::lost(base::SteadyTime now) {
  registered_ = false;
  ++lost_in_a_row_;
  try_at_ = now + lost_.next(now);
}

void RegistrationState::answered(Answer answer, base::SteadyTime now) {
  if (answer == Answer::kAccepted) {
    registered_ = true;
    streaming_ = false;
    registered_at_ = now;
    nobody_.reset();
    refused_.reset();
    return;
  }
  try_at_ = now + (answer == Answer::kNobody ? nobody_ : refused_).next(now);
}

}  // namespace gpupool::kubelet
