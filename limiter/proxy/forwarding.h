// SPDX-License-Identifier: Apache-2.0
#pragma once

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

}  // namespace gpupool::limiter
