// SPDX-License-Identifier: Apache-2.0
#include "tests/fake-cuda/small_blocks.h"

namespace gpupool::fake_cuda {

SmallBlocks::Place SmallBlocks::take(std::uint64_t bytes) {
  const std::uint64_t size = round_up(bytes, kAlignment);
  for (auto& [address, block] : blocks_) {
    std::uint64_t at = 0;
    for (const auto& [offset, length] : block.taken) {
      if (offset - at >= size) break;
      at = offset + length;
    }
    if (kGranule - at < size) continue;
    block.taken[at] = size;
    return {.address = address + at, .offset = at, .backing = block.backing};
  }
  return {};
}

bool SmallBlocks::give_back(std::uint64_t address) {
  const std::uint64_t begin = address & ~(kGranule - 1);
  const auto block = blocks_.find(begin);
  if (block == blocks_.end()) return false;
  block->second.taken.erase(address - begin);
  if (!block->second.taken.empty()) return false;
  blocks_.erase(block);
  return true;
}

}  // namespace gpupool::fake_cuda
