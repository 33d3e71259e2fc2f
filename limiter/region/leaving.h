// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace gpupool::limiter {

// How long others wait for the driver to free a dead process's memory, in nanoseconds.
inline constexpr std::uint64_t kDriverFreesWithin = 2'000'000'000;

// Whether the process is ending and has not ended: the kernel closes its files, and the driver still has its
// memory, up to 43 ms on an H100. By the flag PF_EXITING and the state in /proc/<pid>/stat (proc(5)). False
// also where that is not to be had: no such process, another PID namespace, no /proc, gVisor. Calls the
// kernel only; thread-safe.
bool process_is_leaving(std::int32_t pid);

}  // namespace gpupool::limiter
