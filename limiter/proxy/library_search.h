// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <climits>
#include <cstddef>

namespace gpupool::limiter {

// A path with its end, which is the empty string if it did not fit.
struct Path {
  char text[PATH_MAX];
};

// Takes a path; true ends the search.
using PathTaker = bool (*)(const char* path, void* context);

// Names the files that may be the real library `soname`, in the loader's order: LD_LIBRARY_PATH (not for
// setuid programs), ld.so.cache, the default folders; at last kDriverFolder, where the real file can be
// mounted when ours lies over its path. Never one of our own: where one of these is ours, files of its folder
// that are named like the library with a version are named instead. True if `take` said so. Thread-safe as
// far as nobody changes the environment.
bool search_library(const char* soname, PathTaker take, void* context);

inline constexpr char kDriverFolder[] = "/usr/local/lib/gpupool/driver";

}  // namespace gpupool::limiter
