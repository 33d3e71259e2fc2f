// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace gpupool::limiter {

enum class ElfKind {
  kUnusable,  // no file, not to be read, or not a shared library for this processor
  kOurs,      // a proxy library: it carries our note
  kOther,
};

// Tells what a file is by its content, so that links, copies and mounts over the driver's path are known as
// ours. Thread-safe; opens and closes the file.
ElfKind inspect_elf(const char* path);

}  // namespace gpupool::limiter
