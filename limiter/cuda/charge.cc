// SPDX-License-Identifier: Apache-2.0
#include "limiter/cuda/charge.h"

#include "limiter/cuda/context_charge.h"
#include "limiter/cuda/pool_charge.h"

namespace gpupool::limiter {

namespace {

bool fits(unsigned position, std::uint64_t bytes) {
  const std::uint64_t limit = session.ledger().limit(position);
  return bytes <= limit && session.ledger().used(position) <= limit - bytes;
}

}  // namespace

bool Reserved::try_reserve(unsigned position, std::uint64_t bytes) {
  if (position == kUncharged) {
    return true;
  }
  position_ = position;
  bytes_ = bytes;
  if (!fits(position, bytes)) {
    if (pools_may_have_shrunk(position)) {
      settle_pools(position);
    }
    measure_if_changed(position);
  }
  Unsettled::begin();
  open_ = true;
  if (session.ledger().try_reserve(position, bytes) == Reservation::kRefused) {
    close();
    return false;
  }
  return true;
}

}  // namespace gpupool::limiter
