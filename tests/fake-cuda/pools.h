// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tests/fake-cuda/driver.h"

namespace gpupool::fake_cuda {

// Memory that a pool has of the device; allocations share it.
struct Chunk {
  std::uint64_t size = 0;
  std::shared_ptr<Backing> backing;
  std::map<std::uint64_t, std::uint64_t> taken;  // size by offset
  bool awaited = false;                          // a stream has not come to a free of something in it
};

struct Pool {
  Device* device = nullptr;
  int handle_types = 0;
  std::uint64_t largest = 0;  // 0: what the device has
  int reuse[3] = {1, 1, 1};
  std::uint64_t threshold = 0;
  std::uint64_t used = 0;
  std::uint64_t used_high = 0;
  std::uint64_t reserved = 0;
  std::uint64_t reserved_high = 0;
  bool destroyed = false;  // and gone with its last allocation
  std::map<std::uint64_t, Chunk> chunks;
};

Pool* make_pool(Driver& driver, Device& device);
Pool* default_pool(Driver& driver, Device& device);
Pool* current_pool(Driver& driver, Device& device);
void destroy_pool(Driver& driver, Pool& pool);
Result allocate_from_pool(Driver& driver, Pool& pool, std::uint64_t bytes, Pointer* out);
// Gives memory of a pool back to it; the pool keeps it. `awaited`: the stream comes there by the next
// synchronisation.
Result free_to_pool(Driver& driver, Pointer address, bool awaited);
// Gives the device what nothing is in, as far as `keep` bytes stay. Nothing is given back before the stream
// has come to the free: so does driver 580 on an H200.
void trim_pool(Driver& driver, Pool& pool, std::uint64_t keep);
// What a synchronisation does: pools of the device keep what they use, or their threshold.
void trim_pools(Driver& driver, const Device& device);

}  // namespace gpupool::fake_cuda
