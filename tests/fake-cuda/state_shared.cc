// SPDX-License-Identifier: Apache-2.0
#include "tests/fake-cuda/state_lock.h"

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

Holder* StateFile::own_holder(Shared& shared) {
  const Slot& slot = state_->slots[slot_];
  for (Holder& holder : shared.holders) {
    const bool ours = holder.slot == static_cast<unsigned>(slot_) && holder.incarnation == slot.incarnation;
    if (holder.references > 0 && ours) return &holder;
  }
  return nullptr;
}

std::uint64_t StateFile::share(unsigned device, std::uint64_t bytes) {
  const Lock lock(*this);
  const auto find_free = [&]() -> Shared* {
    for (Shared& shared : state_->shared) {
      if (shared.id == 0) return &shared;
    }
    return nullptr;
  };
  Shared* free = find_free();
  if (free == nullptr) {
    reap();
    free = find_free();
  }
  if (free == nullptr) return 0;
  *free = {};
  free->device = device;
  free->bytes = bytes;
  free->holders[0] = {
      .slot = static_cast<unsigned>(slot_), .references = 1, .incarnation = state_->slots[slot_].incarnation};
  free->id = ++state_->next_shared;
  state_->slots[slot_].bytes[device][static_cast<unsigned>(Kind::kMemory)] -= bytes;
  return free->id;
}

bool StateFile::hold(std::uint64_t id) {
  const Lock lock(*this);
  Shared* const shared = find_shared(id);
  if (shared == nullptr) return false;
  bool held = false;
  for (const Holder& holder : shared->holders) held = held || alive(holder);
  if (!held) return false;
  if (Holder* const own = own_holder(*shared)) {
    ++own->references;
    return true;
  }
  for (Holder& holder : shared->holders) {
    if (alive(holder)) continue;
    holder = {.slot = static_cast<unsigned>(slot_),
              .references = 1,
              .incarnation = state_->slots[slot_].incarnation};
    return true;
  }
  return false;
}

void StateFile::drop(std::uint64_t id) {
  const Lock lock(*this);
  Shared* const shared = find_shared(id);
  Holder* const own = shared != nullptr ? own_holder(*shared) : nullptr;
  if (own == nullptr || --own->references > 0) return;
  bool held = false;
  for (const Holder& holder : shared->holders) held = held || alive(holder);
  if (!held) *shared = {};
}

}  // namespace gpupool::fake_cuda
