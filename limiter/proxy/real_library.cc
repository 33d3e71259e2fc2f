// SPDX-License-Identifier: Apache-2.0
#include "limiter/proxy/real_library.h"

#include <dlfcn.h>

#include <atomic>

#include "limiter/proxy/dl_functions.h"
#include "limiter/proxy/library_search.h"

namespace gpupool::limiter {

namespace {

enum class Loading : unsigned char { kNotTried, kLoaded, kNone };

// Two threads may load the library at once: the loader gives both the same handle, and no lock of ours can be
// left locked in the child of a fork.
std::atomic<void*> loaded_handle{nullptr};
std::atomic<Loading> loading{Loading::kNotTried};

bool load_path(const char* path, void* context) {
  const DlFunctions functions = dl_functions();
  void* const opened = functions.open == nullptr ? nullptr : functions.open(path, RTLD_NOW | RTLD_LOCAL);
  *static_cast<void**>(context) = opened;
  return opened != nullptr;
}

}  // namespace

void* real_library(const char* soname) {
  switch (loading.load(std::memory_order_acquire)) {
    case Loading::kLoaded:
      return loaded_handle.load(std::memory_order_relaxed);
    case Loading::kNone:
      return nullptr;
    case Loading::kNotTried:
      break;
  }
  void* handle = nullptr;
  search_library(soname, load_path, static_cast<void*>(&handle));
  if (handle != nullptr) {
    loaded_handle.store(handle, std::memory_order_relaxed);
  }
  loading.store(handle != nullptr ? Loading::kLoaded : Loading::kNone, std::memory_order_release);
  return handle;
}

void* real_symbol(void* library, const char* name) {
  const DlFunctions functions = dl_functions();
  return functions.symbol == nullptr ? nullptr : functions.symbol(library, name);
}

}  // namespace gpupool::limiter
