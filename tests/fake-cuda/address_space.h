// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>

#include "tests/fake-cuda/backing.h"
#include "tests/fake-cuda/types.h"

namespace gpupool::fake_cuda {

struct Device;
struct Physical;
struct GraphMemory;

enum class Source { kAllocated, kManaged, kHost, kRegistered, kMapped, kPool, kGraph, kIpc };

// One allocation, or one mapping, in this process's address space of the GPUs.
struct Range {
  std::uint64_t size = 0;
  Source source = Source::kAllocated;
  Device* device = nullptr;
  Context* context = nullptr;  // that owns it; null: none does
  std::shared_ptr<Backing> backing{};
  std::uint64_t offset = 0;   // in the backing
  std::uint64_t charged = 0;  // bytes of the device, for those that have their own
  bool accessible = true;
  std::shared_ptr<Physical> physical{};  // of a mapping
  Pool* pool = nullptr;
  std::uint64_t shared = 0;  // number in the state file, of memory of several processes
  unsigned opened = 0;       // times that memory of another process was opened
  std::shared_ptr<GraphMemory> graph{};
};

// Where device pointers lead. Host pointers are valid device pointers too, as the driver has it: what is not
// in the map is host memory. Not thread-safe.
class AddressSpace {
 public:
  Range& add(std::uint64_t address, Range range) { return ranges_[address] = std::move(range); }
  void remove(std::uint64_t address) { ranges_.erase(address); }
  // The range that begins at the address, or null.
  Range* at(std::uint64_t address);
  // The range that holds the address, and where it begins; or null.
  Range* holding(std::uint64_t address, std::uint64_t* begin = nullptr);
  bool overlaps(std::uint64_t address, std::uint64_t size);
  std::map<std::uint64_t, Range>& all() { return ranges_; }
  // Addresses without memory: size by first address.
  std::map<std::uint64_t, std::uint64_t>& reserved() { return reserved_; }
  bool is_reserved(std::uint64_t address, std::uint64_t size) const;

  Result copy(std::uint64_t to, std::uint64_t from, std::uint64_t bytes);
  // Fills with a pattern of 1, 2 or 4 bytes.
  Result fill(std::uint64_t to, std::uint64_t pattern, unsigned width, std::uint64_t count);

 private:
  struct Piece {
    std::byte* data;
    std::uint64_t bytes;
  };
  // Host memory behind an address, as far as it is contiguous; null: no access.
  Piece piece(std::uint64_t address, std::uint64_t bytes);

  std::map<std::uint64_t, Range> ranges_;
  std::map<std::uint64_t, std::uint64_t> reserved_;
};

}  // namespace gpupool::fake_cuda
