// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "limiter/region/layout.h"

namespace gpupool::limiter {

struct RegionDevice {
  std::string_view uuid;      // at most 63 bytes are kept
  std::uint64_t limit_bytes;  // 0: no limit
};

// Makes a new region file that every user may write, with all its pages, so that a full tmpfs cannot hurt
// later. At most kMaxDevices devices are kept. 0, or the errno of what failed (EEXIST: there is one); then
// there is no new file.
int create_region(const char* path, std::span<const RegionDevice> devices);

// Gives zeroed memory the header and the devices.
void initialise(Region& region, std::span<const RegionDevice> devices);

// A region mapped for reading and writing.
struct MappedRegion {
  Region* region;  // nullptr: `problem` says why
  int fd;          // O_CLOEXEC; its record locks are this process's. -1: memory of this process alone
  State problem;   // kNoRegion or kWrongRegion
  // Which file it is.
  std::uint64_t device;
  std::uint64_t inode;
};

// Opens and maps the region of this container. One that is of another layout gets kWrongRegion into its
// state. The caller owns it until unmap_region().
MappedRegion map_region(const char* path);

// Memory of this process alone in place of a file, for limits that no device plugin set; no descriptor (-1).
MappedRegion map_private_region(std::span<const RegionDevice> devices);

// Closes and unmaps; the process's record locks of this file are lost.
void unmap_region(MappedRegion& mapped);

// Whether the descriptor is still that of the region's file: a program may close all descriptors, and open
// other files with their numbers.
bool descriptor_is_good(const MappedRegion& mapped);

// Opens the file again if the descriptor is lost. False: `path` is not that file any more.
bool renew_descriptor(MappedRegion& mapped, const char* path);

// Whether the header is still that of a region of this layout.
inline bool header_is_good(const Region& region) {
  return region.magic == kRegionMagic && region.layout == kRegionLayout && region.size == sizeof(Region);
}

}  // namespace gpupool::limiter
