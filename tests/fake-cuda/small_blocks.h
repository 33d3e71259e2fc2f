// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <memory>

#include "tests/fake-cuda/backing.h"

namespace gpupool::fake_cuda {

// Where a context puts small allocations: several share a block of 2 MiB, which is given back with the last
// of them.
class SmallBlocks {
 public:
  static constexpr std::uint64_t kLargest = 1ULL << 20U;
  static constexpr std::uint64_t kAlignment = 512;

  struct Place {
    std::uint64_t address = 0;  // 0: no block has room
    std::uint64_t offset = 0;
    std::shared_ptr<Backing> backing;
  };
  Place take(std::uint64_t bytes);
  // Adds a new block, at an address that the caller has reserved.
  void add(std::uint64_t address) { blocks_[address].backing = std::make_shared<Backing>(kGranule); }
  // True: the block at `address & ~(2 MiB - 1)` is empty now and forgotten.
  bool give_back(std::uint64_t address);
  template <class Use>
  void clear(Use use) {
    for (const auto& [address, block] : blocks_) use(address);
    blocks_.clear();
  }

 private:
  struct Block {
    std::shared_ptr<Backing> backing;
    std::map<std::uint64_t, std::uint64_t> taken;  // size by offset
  };
  std::map<std::uint64_t, Block> blocks_;
};

}  // namespace gpupool::fake_cuda
