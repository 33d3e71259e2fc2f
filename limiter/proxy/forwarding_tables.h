// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>

namespace gpupool::limiter {

// The tables of one proxy library, which limiter/proxy/generate writes in assembly.

struct WrappedEntry {
  std::uint32_t index;
  std::int32_t offset;  // of the wrapper, from the begin of the list
};

// They need no initialization.
// NOLINTBEGIN(bugprone-dynamic-static-initializers)
extern "C" {
// nullptr: not looked for yet. Functions that are not there have one of the two below.
extern std::atomic<void*> gpupool_table[];
extern const std::uint32_t gpupool_name_count;
extern const std::uint32_t gpupool_name_offsets[];
extern const char gpupool_names[];
extern const char gpupool_soname[];
extern const std::uint32_t gpupool_wrapped_count;
extern const WrappedEntry gpupool_wrapped[];
void gpupool_no_function();
void gpupool_no_library();
// Called by a forwarder that finds the table empty.
void* gpupool_resolve(std::uint32_t index);
}
// NOLINTEND(bugprone-dynamic-static-initializers)

}  // namespace gpupool::limiter
