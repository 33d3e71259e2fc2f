// SPDX-License-Identifier: Apache-2.0
#include "limiter/nvml/slice_memory.h"

#include <fcntl.h>
#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <optional>
#include <span>

#include "limiter/limits/limits.h"
#include "limiter/limits/paths.h"
#include "limiter/region/view.h"

namespace gpupool::limiter {

namespace {

pthread_once_t limits_loaded = PTHREAD_ONCE_INIT;
constinit Limits container_limits{};

// The region as this process reads it. The descriptor stays open for ever: closing it would end the record
// lock by which libgpupool-vgpu.so in the same process holds its slot.
struct ReadRegion {
  std::span<const std::byte> bytes;
  int file;
};
pthread_mutex_t region_mutex = PTHREAD_MUTEX_INITIALIZER;
constinit ReadRegion region{{}, -1};

const Limits& limits() {
  pthread_once(&limits_loaded, [] { container_limits = load_limits(kLimitsPath, environ); });
  return container_limits;
}

void map_region_for_reading() {
  if (region.file < 0) {
    region.file = open(kRegionPath, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
  }
  if (region.file < 0 || lseek(region.file, 0, SEEK_END) < static_cast<off_t>(sizeof(Region))) {
    return;
  }
  void* const memory = mmap(nullptr, sizeof(Region), PROT_READ, MAP_SHARED, region.file, 0);
  if (memory != MAP_FAILED) {
    region.bytes = {static_cast<const std::byte*>(memory), sizeof(Region)};
  }
}

ReadRegion mapped() {
  pthread_mutex_lock(&region_mutex);
  if (region.bytes.empty()) {
    map_region_for_reading();
  }
  const ReadRegion found = region;
  pthread_mutex_unlock(&region_mutex);
  return found;
}

}  // namespace

SliceMemory slice_memory(std::string_view uuid) {
  const Limits& all = limits();
  if (all.source == Limits::Source::kBad) {
    return {true, 0, 0};  // every allocation is refused
  }
  const unsigned position = all.source == Limits::Source::kFile ? find_device(all, uuid) : all.count;
  if (position >= all.count || !all.devices[position].limited) {
    return {false, 0, 0};
  }
  const std::uint64_t limit = all.devices[position].bytes;
  const ReadRegion from = mapped();
  const std::optional<view::RegionView> read = view::read_living(from.bytes, from.file);
  if (!read || position >= read->device_count) {
    return {true, limit, limit};
  }
  return {true, limit, std::min(limit, read->devices[position].used)};
}

}  // namespace gpupool::limiter
