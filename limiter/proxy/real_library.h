// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace gpupool::limiter {

// A handle of the real library, which is loaded at the first call, as search_library() finds it and for
// ourselves alone (RTLD_LOCAL); nullptr if there is none, also later. Each proxy library calls it with one
// name only. Thread-safe.
void* real_library(const char* soname);

// dlsym() on that handle. Thread-safe.
void* real_symbol(void* library, const char* name);

}  // namespace gpupool::limiter
