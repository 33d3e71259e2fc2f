// SPDX-License-Identifier: Apache-2.0
#include "tests/fake-cuda/allocations.h"

#include "tests/fake-cuda/graphs.h"
#include "tests/fake-cuda/pools.h"

namespace gpupool::fake_cuda {

namespace {

Result allocate_small(Driver& driver, Context& context, std::uint64_t bytes, Pointer* out) {
  SmallBlocks::Place place = context.blocks.take(bytes);
  if (place.address == 0) {
    if (!driver.charge(*context.device, Kind::kMemory, kGranule)) return Result::kOutOfMemory;
    const std::uint64_t block = reserve_addresses(kGranule, kGranule);
    if (block == 0) {
      driver.discharge(*context.device, Kind::kMemory, kGranule);
      return Result::kOutOfMemory;
    }
    context.blocks.add(block);
    place = context.blocks.take(bytes);
  }
  driver.memory().add(place.address, {.size = bytes,
                                      .source = Source::kAllocated,
                                      .device = context.device,
                                      .context = &context,
                                      .backing = place.backing,
                                      .offset = place.offset});
  *out = place.address;
  return Result::kSuccess;
}

void release(Driver& driver, std::uint64_t address, const Range& range) {
  if (range.source == Source::kManaged) {
    driver.discharge(*range.device, Kind::kManaged, range.charged);
    release_addresses(address, range.charged);
  } else if (range.charged > 0) {
    if (range.shared != 0) {
      driver.state().drop(range.shared);
    } else {
      driver.discharge(*range.device, Kind::kMemory, range.charged);
    }
    release_addresses(address, range.charged);
  } else if (range.context->blocks.give_back(address)) {
    driver.discharge(*range.device, Kind::kMemory, kGranule);
    release_addresses(address & ~(kGranule - 1), kGranule);
  }
}

}  // namespace

Result allocate(Driver& driver, Context& context, std::uint64_t bytes, Pointer* out, bool low) {
  if (bytes == 0) return Result::kInvalidValue;
  if (bytes <= SmallBlocks::kLargest && !low) return allocate_small(driver, context, bytes, out);
  if (bytes > context.device->memory) return Result::kOutOfMemory;
  const std::uint64_t size = round_up(bytes, kGranule);
  if (!driver.charge(*context.device, Kind::kMemory, size)) return Result::kOutOfMemory;
  const std::uint64_t address = reserve_addresses(size, kGranule, low);
  if (address == 0) {
    driver.discharge(*context.device, Kind::kMemory, size);
    return Result::kOutOfMemory;
  }
  driver.memory().add(address, {.size = bytes,
                                .source = Source::kAllocated,
                                .device = context.device,
                                .context = &context,
                                .backing = std::make_shared<Backing>(size),
                                .charged = size});
  *out = address;
  return Result::kSuccess;
}

Result allocate_managed(Driver& driver, Context& context, std::uint64_t bytes, Pointer* out) {
  if (bytes == 0) return Result::kInvalidValue;
  if (bytes > (1ULL << 46U)) return Result::kOutOfMemory;
  const std::uint64_t size = round_up(bytes, kGranule);
  const std::uint64_t address = map_host_memory(size);
  if (address == 0) return Result::kOutOfMemory;
  driver.charge(*context.device, Kind::kManaged, size);
  driver.memory().add(address, {.size = bytes,
                                .source = Source::kManaged,
                                .device = context.device,
                                .context = &context,
                                .backing = nullptr,
                                .charged = size});
  *out = address;
  return Result::kSuccess;
}

Result free_memory(Driver& driver, Pointer address) {
  if (address == 0) return Result::kSuccess;
  Range* const range = driver.memory().at(address);
  if (range == nullptr) return Result::kInvalidValue;
  if (range->source == Source::kPool) return free_to_pool(driver, address, false);
  if (range->source == Source::kGraph) {
    free_graph_memory(driver, address);
    return Result::kSuccess;
  }
  if (range->source != Source::kAllocated && range->source != Source::kManaged) return Result::kInvalidValue;
  release(driver, address, *range);
  driver.memory().remove(address);
  return Result::kSuccess;
}

void free_all_of(Driver& driver, Context& context) {
  auto& ranges = driver.memory().all();
  for (auto at = ranges.begin(); at != ranges.end();) {
    if (at->second.context == &context && at->second.source == Source::kIpc) {
      if (at->second.shared != 0) driver.state().drop(at->second.shared);
      release_addresses(at->first, round_up(at->second.size, kGranule));
      at = ranges.erase(at);
      continue;
    }
    const bool ours = at->second.context == &context &&
                      (at->second.source == Source::kAllocated || at->second.source == Source::kManaged);
    if (ours) release(driver, at->first, at->second);
    at = ours ? ranges.erase(at) : std::next(at);
  }
}

}  // namespace gpupool::fake_cuda
