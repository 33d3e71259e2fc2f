// SPDX-License-Identifier: Apache-2.0
#include "tests/fake-cuda/pools.h"

#include <algorithm>

namespace gpupool::fake_cuda {

namespace {

constexpr std::uint64_t kPoolAlignment = 512;

Pointer place_in(Pool& pool, std::uint64_t size) {
  for (auto& [address, chunk] : pool.chunks) {
    std::uint64_t at = 0;
    for (const auto& [offset, length] : chunk.taken) {
      if (offset - at >= size) break;
      at = offset + length;
    }
    if (chunk.size - at < size) continue;
    chunk.taken[at] = size;
    return address + at;
  }
  return 0;
}

bool grow(Driver& driver, Pool& pool, std::uint64_t size) {
  const std::uint64_t room = pool.largest != 0 ? pool.largest - std::min(pool.largest, pool.reserved) : size;
  if (size > room || !driver.charge(*pool.device, Kind::kMemory, size)) return false;
  const std::uint64_t address = reserve_addresses(size, kGranule);
  if (address == 0) {
    driver.discharge(*pool.device, Kind::kMemory, size);
    return false;
  }
  pool.chunks[address] = {.size = size, .backing = std::make_shared<Backing>(size), .taken = {}};
  pool.reserved += size;
  pool.reserved_high = std::max(pool.reserved_high, pool.reserved);
  return true;
}

// What a destroyed pool holds is given back with its last allocation, as NVIDIA's documentation says.
void end_if_unused(Driver& driver, Pool& pool) {
  if (pool.used != 0) return;
  for (auto& [address, chunk] : pool.chunks) chunk.awaited = false;
  trim_pool(driver, pool, 0);
  delete &pool;
}

}  // namespace

Pool* make_pool(Driver& driver, Device& device) {
  auto* const made = new Pool;
  made->device = &device;
  driver.objects().pools.insert(made);
  return made;
}

Pool* default_pool(Driver& driver, Device& device) {
  if (device.default_pool == nullptr) device.default_pool = make_pool(driver, device);
  return device.default_pool;
}

Pool* current_pool(Driver& driver, Device& device) {
  if (device.current_pool == nullptr) device.current_pool = default_pool(driver, device);
  return device.current_pool;
}

void destroy_pool(Driver& driver, Pool& pool) {
  driver.objects().pools.erase(&pool);
  if (pool.device->current_pool == &pool) pool.device->current_pool = nullptr;
  pool.destroyed = true;
  end_if_unused(driver, pool);
}

Result allocate_from_pool(Driver& driver, Pool& pool, std::uint64_t bytes, Pointer* out) {
  if (bytes == 0 || out == nullptr) return Result::kInvalidValue;
  if (bytes > pool.device->memory) return Result::kOutOfMemory;
  const std::uint64_t size = round_up(bytes, kPoolAlignment);
  Pointer made = place_in(pool, size);
  if (made == 0) {
    const std::uint64_t least = round_up(size, kGranule);
    const std::uint64_t wanted = std::max(least, driver.pool_growth());
    if (!grow(driver, pool, wanted) && (wanted == least || !grow(driver, pool, least)))
      return Result::kOutOfMemory;
    made = place_in(pool, size);
  }
  const auto chunk = std::prev(pool.chunks.upper_bound(made));
  driver.memory().add(made, {.size = bytes,
                             .source = Source::kPool,
                             .device = pool.device,
                             .backing = chunk->second.backing,
                             .offset = made - chunk->first,
                             .pool = &pool});
  pool.used += size;
  pool.used_high = std::max(pool.used_high, pool.used);
  *out = made;
  return Result::kSuccess;
}

Result free_to_pool(Driver& driver, Pointer address, bool awaited) {
  Pool& pool = *driver.memory().at(address)->pool;
  const auto chunk = std::prev(pool.chunks.upper_bound(address));
  const auto taken = chunk->second.taken.find(address - chunk->first);
  pool.used -= taken->second;
  chunk->second.taken.erase(taken);
  chunk->second.awaited = chunk->second.awaited || awaited;
  driver.memory().remove(address);
  if (pool.destroyed) end_if_unused(driver, pool);
  return Result::kSuccess;
}

void trim_pool(Driver& driver, Pool& pool, std::uint64_t keep) {
  for (auto at = pool.chunks.begin(); at != pool.chunks.end();) {
    const Chunk& chunk = at->second;
    if (!chunk.taken.empty() || chunk.awaited || pool.reserved < keep + chunk.size) {
      ++at;
      continue;
    }
    driver.discharge(*pool.device, Kind::kMemory, chunk.size);
    pool.reserved -= chunk.size;
    release_addresses(at->first, chunk.size);
    at = pool.chunks.erase(at);
  }
}

void trim_pools(Driver& driver, const Device& device) {
  for (Pool* const pool : driver.objects().pools) {
    for (auto& [address, chunk] : pool->chunks) chunk.awaited = false;
    if (pool->device == &device) trim_pool(driver, *pool, pool->threshold);
  }
}

}  // namespace gpupool::fake_cuda
