// SPDX-License-Identifier: Apache-2.0
#include "limiter/proxy/forwarding.h"

#include <array>
#include <span>

#include "limiter/proxy/forwarding_tables.h"
#include "limiter/proxy/real_library.h"

namespace gpupool::limiter {

namespace {

void* const kNoFunction = reinterpret_cast<void*>(&gpupool_no_function);
void* const kNoLibrary = reinterpret_cast<void*>(&gpupool_no_library);

std::span<const WrappedEntry> wrapped_entries() {
  return {static_cast<const WrappedEntry*>(gpupool_wrapped), gpupool_wrapped_count};
}

}  // namespace

void* gpupool_resolve(std::uint32_t index) {
  void* const library = real_library(static_cast<const char*>(gpupool_soname));
  void* found = kNoLibrary;
  if (library != nullptr) {
    found = real_symbol(library, &gpupool_names[gpupool_name_offsets[index]]);
    found = found == nullptr ? kNoFunction : found;
  }
  gpupool_table[index].store(found, std::memory_order_relaxed);
  return found;
}

void* callable_function(std::uint32_t index) {
  void* const known = gpupool_table[index].load(std::memory_order_relaxed);
  return known != nullptr ? known : gpupool_resolve(index);
}

void* real_function(std::uint32_t index) {
  void* const found = callable_function(index);
  return found == kNoFunction || found == kNoLibrary ? nullptr : found;
}

void* wrapper_of(const void* real) {
  for (const WrappedEntry& entry : wrapped_entries()) {
    if (real_function(entry.index) == real) {
      return const_cast<char*>(reinterpret_cast<const char*>(gpupool_wrapped)) + entry.offset;
    }
  }
  return nullptr;
}

bool is_known_function(const void* real) {
  for (std::uint32_t index = 0; index < gpupool_name_count; ++index) {
    if (real_function(index) == real) {
      return true;
    }
  }
  return false;
}

}  // namespace gpupool::limiter
