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
//   crc32 5d41402a
//
// A device's ordinal in the container, UUID, memory in MiB, percent of the cores ("-": no limit), and
// ordinals of its slices on the node. The CRC-32 (zlib's) is of all bytes before its line. The version grows
// when a reader of the present one would misread.
LimitsFile limits_file(const std::vector<Device>& devices);

// The prefix and the content's fingerprint are the name.
LimitsFile named_by_content(const std::string& prefix, std::string content);

// The first half of its SHA-256, in hexadecimal.
std::string fingerprint(const std::string& content);

}  // namespace gpupool::allocation
