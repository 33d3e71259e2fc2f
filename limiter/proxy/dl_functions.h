// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace gpupool::limiter {

// dlopen() and dlsym(), with all versions of glibc. Before 2.34 they are in libdl.so.2, which a program need
// not have loaded and which the limiter does not name either: every program of a container would load it.
struct DlFunctions {
  void* (*open)(const char* path, int mode);  // nullptr: there is none
  void* (*symbol)(void* library, const char* name);
};

// Thread-safe; the same each time, unless a program loads libdl.so.2 between two calls.
DlFunctions dl_functions();

}  // namespace gpupool::limiter
