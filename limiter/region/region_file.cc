// SPDX-License-Identifier: Apache-2.0
#include "limiter/region/region_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>

namespace gpupool::limiter {
namespace {

constexpr int kOpenFlags = O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK;
constexpr std::size_t kStablePart = 24;  // magic, layout, size, state and what follows it up to 8 bytes
static_assert(offsetof(Region, state) + sizeof(Region::state) <= kStablePart);

struct File {
  bool regular;
  std::uint64_t size, device, inode;
};

// By statx(): glibc 2.33 made fstat() a function, so that a library built with it does not load with an older
// one.
bool look_at(int fd, File& file) {
  struct statx status{};
  if (::statx(fd, "", AT_EMPTY_PATH, STATX_BASIC_STATS, &status) != 0) return false;
  file = {S_ISREG(status.stx_mode), status.stx_size,
          static_cast<std::uint64_t>(status.stx_dev_major) << 32U | status.stx_dev_minor, status.stx_ino};
  return true;
}

// The file is a region of another limiter: its first fields are where they always are.
void say_wrong(int fd, std::size_t file_size) {
  if (file_size < kStablePart) return;
  void* const memory = ::mmap(nullptr, kStablePart, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (memory == MAP_FAILED) return;
  auto& region = *static_cast<Region*>(memory);
  if (region.magic == kRegionMagic) region.state.fetch_or(kWrongRegion, std::memory_order_relaxed);
  ::munmap(memory, kStablePart);
}

MappedRegion failed(int fd, State problem) {
  if (fd >= 0) ::close(fd);
  return {nullptr, -1, problem, 0, 0};
}

int fill(int fd, std::span<const RegionDevice> devices) {
  // The mode of open() is subject to the umask.
  if (::fchmod(fd, 0666) != 0) return errno;
  if (const int error = ::posix_fallocate(fd, 0, sizeof(Region)); error != 0) return error;
  void* const memory = ::mmap(nullptr, sizeof(Region), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (memory == MAP_FAILED) return errno;
  initialise(*static_cast<Region*>(memory), devices);
  ::munmap(memory, sizeof(Region));
  return 0;
}

}  // namespace

int create_region(const char* path, std::span<const RegionDevice> devices) {
  const int fd = ::open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (fd < 0) return errno;
  const int error = fill(fd, devices);
  ::close(fd);
  if (error != 0) ::unlink(path);
  return error;
}

void initialise(Region& region, std::span<const RegionDevice> devices) {
  region.layout = kRegionLayout;
  region.size = sizeof(Region);
  const std::size_t count = std::min<std::size_t>(devices.size(), kMaxDevices);
  for (std::size_t i = 0; i < count; ++i) {
    DeviceRecord& record = region.devices[i];
    const std::size_t length = std::min(devices[i].uuid.size(), sizeof(record.uuid) - 1);
    std::memset(record.uuid, 0, sizeof(record.uuid));
    if (length > 0) std::memcpy(record.uuid, devices[i].uuid.data(), length);  // an empty one has no data
    record.limit.store(devices[i].limit_bytes, std::memory_order_relaxed);
  }
  std::atomic_ref(region.magic).store(kRegionMagic, std::memory_order_release);
}

MappedRegion map_region(const char* path) {
  const int fd = ::open(path, kOpenFlags);
  if (fd < 0) return failed(fd, kNoRegion);
  File file{};
  if (!look_at(fd, file) || !file.regular) return failed(fd, kNoRegion);
  const std::size_t size = file.size;
  if (size != sizeof(Region)) {
    say_wrong(fd, size);
    return failed(fd, kWrongRegion);
  }
  void* const memory = ::mmap(nullptr, sizeof(Region), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (memory == MAP_FAILED) return failed(fd, kNoRegion);
  MappedRegion mapped{static_cast<Region*>(memory), fd, State{}, file.device, file.inode};
  if (header_is_good(*mapped.region)) return mapped;
  say_wrong(fd, size);
  unmap_region(mapped);
  mapped.problem = kWrongRegion;
  return mapped;
}

MappedRegion map_private_region(std::span<const RegionDevice> devices) {
  void* const memory =
      ::mmap(nullptr, sizeof(Region), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return failed(-1, kNoRegion);
  initialise(*static_cast<Region*>(memory), devices);
  return {static_cast<Region*>(memory), -1, State{}, 0, 0};
}

bool descriptor_is_good(const MappedRegion& mapped) {
  File file{};
  return mapped.fd >= 0 && look_at(mapped.fd, file) && file.device == mapped.device &&
         file.inode == mapped.inode;
}

bool renew_descriptor(MappedRegion& mapped, const char* path) {
  if (descriptor_is_good(mapped)) return true;
  const int fd = ::open(path, kOpenFlags);
  if (fd < 0) return false;
  // The old number is another file's now: it is not ours to close.
  MappedRegion renewed = mapped;
  renewed.fd = fd;
  if (descriptor_is_good(renewed)) {
    mapped = renewed;
    return true;
  }
  ::close(fd);
  return false;
}

void unmap_region(MappedRegion& mapped) {
  if (mapped.region != nullptr) ::munmap(mapped.region, sizeof(Region));
  if (descriptor_is_good(mapped)) ::close(mapped.fd);
  mapped.region = nullptr;
  mapped.fd = -1;
}

}  // namespace gpupool::limiter
