// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "allocation/devices.h"
#include "allocation/grant.h"

namespace gpupool::allocation {

// What the limiter in a container reads, lines of words:
//
//   gpupool-limits 1
//   device 0 GPU-0a1b... 3274 20 4,5
//   device 1 GPU-9c8d... - - 0
//   wait 30
//   context 512
//   crc32 5d41402a
//
// A device's ordinal in the container, UUID, memory in MiB, percent of the cores ("-": no limit), and
// ordinals of its slices on the node. How many seconds an allocation waits for memory that others hold, and
// how many MiB are charged for a context that cannot be measured; both lines are absent for 0. The CRC-32
// (zlib's) is of all bytes before its line. The version grows when a reader of the present one would misread.
// The lines `wait` and `context` are for containers whose limits are enforced.
std::string limits_text(const std::vector<Device>& devices, bool enforced);

// The file of a container in which nothing is enforced, named by its content.
LimitsFile limits_file(const std::vector<Device>& devices);

// Whether the limits of a container with these devices are enforced: one of its GPUs has limits and says so.
bool is_enforced(const std::vector<Device>& devices);

// The prefix and the content's fingerprint are the name.
LimitsFile named_by_content(const std::string& prefix, std::string content);

// The first half of its SHA-256, in hexadecimal.
std::string fingerprint(const std::string& content);

}  // namespace gpupool::allocation
