// SPDX-License-Identifier: Apache-2.0
#include "limiter/cuda/charge.h"

#include "limiter/cuda/pool_charge.h"

namespace gpupool::limiter {

bool Reserved::reserve(unsigned position, std::uint64_t bytes) {
  if (position == kUncharged) {
    return true;
  }
  position_ = position;
  bytes_ = bytes;
  if (pools_may_have_shrunk(position)) {
    const std::uint64_t limit = session.ledger().limit(position);
    if (bytes > limit || session.ledger().used(position) > limit - bytes) {
      settle_pools(position);
    }
  }
  Unsettled::begin();
  open_ = true;
  if (session.ledger().reserve(position, bytes) == Reservation::kRefused) {
    close();
    return false;
  }
  return true;
}

}  // namespace gpupool::limiter
