// SPDX-License-Identifier: Apache-2.0
#include "limiter/nvml/slice_memory.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <optional>
#include <span>

#include "limiter/limits/limits.h"
#include "limiter/limits/paths.h"
#include "limiter/region/view.h"

namespace gpupool::limiter {

namespace {

// Neither needs a lock, which the child of a fork could find locked for ever.
enum class Loading : unsigned char { kNotTried, kBusy, kLoaded };
std::atomic<Loading> loading_limits{Loading::kNotTried};
constinit Limits container_limits{};

// The region as this process reads it. The descriptor stays open for ever: closing it would end the record
// lock by which libgpupool-vgpu.so in the same process holds its slot. A program may close all descriptors
// and open other files with their numbers: then the region is opened again.
std::atomic<int> region_file{-1};
std::atomic<std::uint64_t> region_identity{0};
std::atomic<const std::byte*> region_memory{nullptr};

Limits limits() {
  if (loading_limits.load(std::memory_order_acquire) == Loading::kLoaded) {
    return container_limits;
  }
  const Limits loaded = load_limits(kLimitsPath, environ);
  Loading expected = Loading::kNotTried;
  if (loading_limits.compare_exchange_strong(expected, Loading::kBusy)) {
    container_limits = loaded;
    loading_limits.store(Loading::kLoaded, std::memory_order_release);
  }
  return loaded;
}

// Which file it is, in one number; 0: none. By statx(), for old glibc.
std::uint64_t identity_of(int file) {
  struct statx status{};
  if (statx(file, "", AT_EMPTY_PATH, STATX_INO, &status) != 0) {
    return 0;
  }
  return status.stx_ino ^ std::uint64_t{status.stx_dev_major} << 52U ^
         std::uint64_t{status.stx_dev_minor} << 40U;
}

// -1: there is no region, or another one than before. Of two threads that open it at once one leaves its
// descriptor open unused.
int open_region() {
  const int file = region_file.load();
  const std::uint64_t known = region_identity.load();
  if (file >= 0 && identity_of(file) == known) {
    return file;
  }
  const int opened = open(kRegionPath, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
  if (opened < 0) {
    return -1;
  }
  const std::uint64_t identity = identity_of(opened);
  if (known != 0 && identity != known) {
    close(opened);
    return -1;
  }
  region_identity.store(identity);
  region_file.store(opened);
  return opened;
}

std::span<const std::byte> region_bytes(int file) {
  const std::byte* memory = region_memory.load();
  if (memory == nullptr) {
    if (lseek(file, 0, SEEK_END) < static_cast<off_t>(sizeof(Region))) {
      return {};
    }
    void* const mapped = mmap(nullptr, sizeof(Region), PROT_READ, MAP_SHARED, file, 0);
    if (mapped == MAP_FAILED) {
      return {};
    }
    if (region_memory.compare_exchange_strong(memory, static_cast<const std::byte*>(mapped))) {
      memory = static_cast<const std::byte*>(mapped);
    } else {
      munmap(mapped, sizeof(Region));
    }
  }
  return {memory, sizeof(Region)};
}

}  // namespace

SliceMemory slice_memory(std::string_view uuid) {
  const Limits all = limits();
  if (all.source == Limits::Source::kBad) {
    return {true, 0, 0};  // every allocation is refused
  }
  const unsigned position = all.source == Limits::Source::kFile ? find_device(all, uuid) : all.count;
  if (position >= all.count || !all.devices[position].limited) {
    return {false, 0, 0};
  }
  const std::uint64_t limit = all.devices[position].bytes;
  const int file = open_region();
  const std::optional<view::RegionView> read =
      file < 0 ? std::nullopt : view::read_living(region_bytes(file), file);
  if (!read || position >= read->device_count) {
    return {true, limit, limit};
  }
  return {true, limit, std::min(limit, read->devices[position].used)};
}

}  // namespace gpupool::limiter
