// SPDX-License-Identifier: Apache-2.0
#include "bench/fair/policies/ledger.h"

namespace gpupool::bench::fair {
namespace {

constexpr std::int64_t kTicksAHalfLife = 1024;

// By one tick: value x 2^(-1/1024).
std::int64_t decay(std::int64_t value) {
  __extension__ using Wide = __int128;
  constexpr Wide kFactor = 4292061010;  // 2^32 x 2^(-1/1024)
  return static_cast<std::int64_t>(static_cast<Wide>(value) * kFactor >> 32);
}

}  // namespace

Ledger::Ledger(std::size_t tenants, Seconds half_life)
    : tick_((half_life + kTicksAHalfLife - 1) / kTicksAHalfLife), next_tick_(tick_), accounts_(tenants) {}

void Ledger::add(Seconds passed) {
  for (auto& account : accounts_) account.fresh += account.rate * passed;
  now_ += passed;
}

void Ledger::advance(Seconds now) {
  for (; next_tick_ <= now; next_tick_ += tick_) {
    add(next_tick_ - now_);
    for (auto& account : accounts_) {
      account.decayed = decay(account.decayed + account.fresh);
      account.fresh = 0;
    }
  }
  add(now - now_);
}

}  // namespace gpupool::bench::fair
