// SPDX-License-Identifier: Apache-2.0
#include "tests/fake-cuda/backing.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cstring>

namespace gpupool::fake_cuda {

namespace {

void* map(std::uint64_t bytes, int protection, int flags, int file) {
  void* const at = mmap(nullptr, bytes, protection, flags | MAP_NORESERVE, file, 0);
  return at != MAP_FAILED ? at : nullptr;
}

}  // namespace

Backing::~Backing() {
  if (data_ != nullptr) munmap(data_, bytes_);
  if (file_ >= 0) close(file_);
}

std::byte* Backing::data() {
  if (data_ == nullptr) {
    const int flags = file_ >= 0 ? MAP_SHARED : MAP_PRIVATE | MAP_ANONYMOUS;
    data_ = static_cast<std::byte*>(map(bytes_, PROT_READ | PROT_WRITE, flags, file_));
  }
  return data_;
}

int Backing::file(const char* name) {
  if (file_ >= 0) return file_;
  const int made = memfd_create(name, MFD_CLOEXEC);
  if (made < 0 || ftruncate(made, static_cast<off_t>(bytes_)) != 0) {
    if (made >= 0) close(made);
    return -1;
  }
  file_ = made;
  std::byte* const before = data_;
  data_ = nullptr;
  if (before == nullptr) return file_;
  if (data() != nullptr) {
    // Only what is not zero, so that large and empty memory stays cheap.
    constexpr std::uint64_t kPage = 4096;
    static const std::byte zeros[kPage] = {};
    for (std::uint64_t at = 0; at < bytes_; at += kPage) {
      const std::uint64_t size = bytes_ - at < kPage ? bytes_ - at : kPage;
      if (std::memcmp(before + at, zeros, size) != 0) std::memcpy(data_ + at, before + at, size);
    }
  }
  munmap(before, bytes_);
  return file_;
}

std::uint64_t reserve_addresses(std::uint64_t bytes, std::uint64_t alignment, bool low) {
  if (bytes > (1ULL << 46U)) return 0;
  const std::uint64_t wanted = bytes + alignment;
  void* const at = map(wanted, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | (low ? MAP_32BIT : 0), -1);
  if (at == nullptr) return 0;
  const auto begin = reinterpret_cast<std::uint64_t>(at);
  const std::uint64_t first = round_up(begin, alignment);
  if (first > begin) munmap(at, first - begin);
  const std::uint64_t end = first + bytes;
  if (begin + wanted > end) munmap(reinterpret_cast<void*>(end), begin + wanted - end);
  return first;
}

void release_addresses(std::uint64_t address, std::uint64_t bytes) {
  munmap(reinterpret_cast<void*>(address), bytes);
}

std::uint64_t map_host_memory(std::uint64_t bytes) {
  return reinterpret_cast<std::uint64_t>(map(bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1));
}

}  // namespace gpupool::fake_cuda
