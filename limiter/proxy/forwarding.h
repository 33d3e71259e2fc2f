// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>

namespace gpupool::limiter {

// One proxy library: the names that it exports, and where the real library has these functions. The tables
// are made by limiter/proxy/generate, one set for each library that is linked from it. All functions are
// thread-safe, also in the child of a fork, since they hold no lock of their own.

// The address of function `index` in the real library, which is loaded when none was asked for before;
// nullptr if it lacks the function or there is no such library.
void* real_function(std::uint32_t index);

// The same, but where that says nullptr a function that returns the error code of that case.
void* callable_function(std::uint32_t index);

// The wrapper of the function whose real address this is, or nullptr.
void* wrapper_of(const void* real);

// Whether this is the real address of a function that the library exports.
bool is_known_function(const void* real);

struct WrappedEntry {
  std::uint32_t index;
  std::int32_t offset;  // of the wrapper, from the begin of the list
};

extern "C" {
extern std::atomic<void*>
    gpupool_table[];  // nullptr: not looked for yet; never what real_function() says is nullptr
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

}  // namespace gpupool::limiter
