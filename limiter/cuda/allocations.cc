// SPDX-License-Identifier: Apache-2.0
#include "limiter/cuda/allocations.h"

#include <array>
#include <atomic>

namespace gpupool::limiter {

namespace {

constinit Table<Allocation> kept_pointers;
constinit Table<Allocation> kept_arrays;
constinit Table<std::uint64_t> kept_blocks;  // by block_key(): how many allocations have a part in it

// How many allocations share blocks, by the device's position.
constinit std::array<std::atomic<std::uint64_t>, kMaxDevices> sharing_blocks;

void count_sharing(const Charged& charged, std::uint64_t change) {
  if (charged.position < kMaxDevices) {
    sharing_blocks[charged.position].fetch_add(change, std::memory_order_relaxed);
  }
}

Table<Allocation>& kept_table(Kept what) { return what == Kept::kPointer ? kept_pointers : kept_arrays; }

std::uint64_t first_block(CUdeviceptr pointer) { return pointer / kBlock; }
std::uint64_t last_block(CUdeviceptr pointer, std::uint64_t bytes) { return (pointer + bytes - 1) / kBlock; }

// The driver may give the addresses of one device's memory to another's before what was there is taken out
// here.
std::uint64_t block_key(std::uint64_t block, unsigned position) { return block * kMaxDevices + position + 1; }

// Bytes of the blocks that nothing else has a part in.
std::uint64_t enter_blocks(CUdeviceptr pointer, std::uint64_t bytes, unsigned position) {
  std::uint64_t added = 0;
  for (std::uint64_t block = first_block(pointer); block <= last_block(pointer, bytes); ++block) {
    kept_blocks.change(block_key(block, position), true, [&](std::uint64_t& parts) {
      added += parts == 0 ? kBlock : 0;
      ++parts;
      return true;
    });
  }
  return added;
}

std::uint64_t leave_blocks(CUdeviceptr pointer, std::uint64_t bytes, unsigned position) {
  std::uint64_t left = 0;
  for (std::uint64_t block = first_block(pointer); block <= last_block(pointer, bytes); ++block) {
    kept_blocks.change(block_key(block, position), false, [&](std::uint64_t& parts) {
      --parts;
      left += parts == 0 ? kBlock : 0;
      return parts != 0;
    });
  }
  return left;
}

void release_kept(std::uint64_t key, const Allocation& allocation) {
  Charged charged = allocation.charged;
  if (allocation.shares != 0) {
    charged.bytes = leave_blocks(key, allocation.shares, charged.position);
    count_sharing(charged, ~0ULL);
  }
  release(charged);
}

// What was kept of the same pointer is gone: it went with its context.
void enter(Kept what, std::uint64_t key, const Allocation& allocation) {
  Allocation before{};
  kept_table(what).change(key, true, [&](Allocation& stored) {
    before = stored;
    stored = allocation;
    return true;
  });
  if (before.charged.bytes != 0 || before.shares != 0) {
    release_kept(key, before);
  }
}

void enter_sharing(CUdeviceptr pointer, std::uint64_t bytes, unsigned position, std::uint64_t context) {
  const Charged charged{0, position, Class::kMemory};
  count_sharing(charged, 1);
  enter(Kept::kPointer, pointer, Allocation{charged, context, bytes, 0});
}

}  // namespace

void keep(Kept what, std::uint64_t key, Reserved& reserved, Class kind, std::uint64_t bytes,
          std::uint64_t context) {
  if (reserved.position() == kUncharged) {
    return;
  }
  enter(what, key, Allocation{{bytes, reserved.position(), kind}, context, 0, 0});
  reserved.commit(kind, bytes);
}

void keep_in_blocks(CUdeviceptr pointer, std::uint64_t bytes, Reserved& reserved, std::uint64_t context) {
  if (bytes == 0 || (bytes > kBlock / 2 && pointer % kBlock == 0)) {
    keep(Kept::kPointer, pointer, reserved, Class::kMemory, round_to_blocks(bytes), context);
    return;
  }
  if (reserved.position() == kUncharged) {
    return;
  }
  const std::uint64_t added = enter_blocks(pointer, bytes, reserved.position());
  enter_sharing(pointer, bytes, reserved.position(), context);
  reserved.commit(Class::kMemory, added);
}

bool shares_blocks(unsigned position) {
  return position < kMaxDevices && sharing_blocks[position].load(std::memory_order_relaxed) != 0;
}

bool keep_in_known_block(CUdeviceptr pointer, std::uint64_t bytes, Reserved& reserved,
                         std::uint64_t context) {
  if (bytes == 0 || first_block(pointer) != last_block(pointer, bytes)) {
    return false;
  }
  if (!kept_blocks.change(block_key(first_block(pointer), reserved.position()), false,
                          [](std::uint64_t& parts) {
                            ++parts;
                            return true;
                          })) {
    return false;
  }
  enter_sharing(pointer, bytes, reserved.position(), context);
  reserved.commit(Class::kMemory, 0);
  return true;
}

void keep_of_pool(CUdeviceptr pointer, std::uint64_t pool) {
  enter(Kept::kPointer, pointer, Allocation{{0, kUncharged, Class::kPool}, 0, 0, pool});
}

Leaving::Leaving(Kept what, std::uint64_t key) : what_(what), key_(key) {
  Unsettled::begin();
  found_ = kept_table(what).take(key, allocation_);
}

Leaving::~Leaving() {
  if (found_) {
    kept_table(what_).put(key_, allocation_);
  }
  Unsettled::end();
}

void Leaving::done() {
  if (found_) {
    found_ = false;
    release_kept(key_, allocation_);
  }
}

void context_gone(std::uint64_t context) {
  if (context == 0) {
    return;
  }
  for (Table<Allocation>* const table : {&kept_pointers, &kept_arrays}) {
    table->take_all([context](std::uint64_t key, const Allocation& allocation) {
      if (allocation.context != context) {
        return false;
      }
      release_kept(key, allocation);
      return true;
    });
  }
}

void forget_allocations_after_fork() {
  kept_pointers.forget_after_fork();
  kept_arrays.forget_after_fork();
  kept_blocks.forget_after_fork();
  for (std::atomic<std::uint64_t>& count : sharing_blocks) {
    count.store(0, std::memory_order_relaxed);
  }
}

}  // namespace gpupool::limiter
