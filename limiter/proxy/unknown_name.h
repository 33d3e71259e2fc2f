// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace gpupool::limiter {

// Told of each function that a program got through cuGetProcAddress and that the proxy does not export:
// nothing of what the program does with it is seen. Defined by limiter/cuda. Thread-safe.
__attribute__((weak, visibility("hidden"))) void unknown_name(const char* name);

}  // namespace gpupool::limiter
