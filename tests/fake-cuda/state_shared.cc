// SPDX-License-Identifier: Apache-2.0
#include "tests/fake-cuda/state.h"

// The part of the state file about memory that several processes hold.
namespace gpupool::fake_cuda {

std::uint64_t StateFile::shared_bytes(unsigned device, unsigned slot) const {
  std::uint64_t total = 0;
  for (const Shared& shared : state_->shared) {
    if (shared.id == 0 || shared.device != device) continue;
    for (const Holder& holder : shared.holders) {
      if (!alive(holder)) continue;
      if (slot == kMaxSlots || holder.slot == slot) total += shared.bytes;
      break;
    }
  }
  return total;
}

Shared* StateFile::find_shared(std::uint64_t id) {
  for (Shared& shared : state_->shared) {
    if (id != 0 && shared.id == id) return &shared;
  }
  return nullptr;
}

}  // namespace gpupool::fake_cuda
