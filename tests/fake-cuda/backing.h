// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

namespace gpupool::fake_cuda {

inline constexpr std::uint64_t kGranule = 2ULL << 20U;

constexpr std::uint64_t round_up(std::uint64_t bytes, std::uint64_t to) { return (bytes + to - 1) / to * to; }

// The content of device memory, in host memory that costs nothing until it is written. Not thread-safe.
class Backing {
 public:
  explicit Backing(std::uint64_t bytes) : bytes_(bytes) {}
  // Content that other processes see: `file` is a memory file, owned from now on.
  Backing(std::uint64_t bytes, int file) : bytes_(bytes), file_(file) {}
  ~Backing();
  Backing(const Backing&) = delete;
  Backing& operator=(const Backing&) = delete;

  std::byte* data();  // null: the host has no address space left
  std::uint64_t size() const { return bytes_; }
  // The memory file; made, with the content so far, at the first call. Stays ours. -1: cannot be had.
  int file(const char* name = "fake-cuda");

 private:
  std::uint64_t bytes_;
  int file_ = -1;
  std::byte* data_ = nullptr;
};

// Address space of the device: host addresses that nothing else uses and that fault when the host touches
// them. A multiple of `alignment`, below 2 GiB if `low`; 0: there is none.
std::uint64_t reserve_addresses(std::uint64_t bytes, std::uint64_t alignment, bool low = false);
void release_addresses(std::uint64_t address, std::uint64_t bytes);
// The same that the host can read and write.
std::uint64_t map_host_memory(std::uint64_t bytes);

}  // namespace gpupool::fake_cuda
