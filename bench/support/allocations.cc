// SPDX-License-Identifier: Apache-2.0
#include "bench/support/allocations.h"

#include <malloc.h>

#include <atomic>
#include <cstdlib>
#include <new>

namespace {

std::atomic<std::int64_t> g_calls{0};
std::atomic<std::int64_t> g_live{0};

void* take(std::size_t size) {
  void* memory = std::malloc(size == 0 ? 1 : size);
  if (memory == nullptr) throw std::bad_alloc();
  g_calls.fetch_add(1, std::memory_order_relaxed);
  g_live.fetch_add(static_cast<std::int64_t>(malloc_usable_size(memory)), std::memory_order_relaxed);
  return memory;
}

void give_back(void* memory) noexcept {
  if (memory == nullptr) return;
  g_live.fetch_sub(static_cast<std::int64_t>(malloc_usable_size(memory)), std::memory_order_relaxed);
  std::free(memory);
}

}  // namespace

void* operator new(std::size_t size) { return take(size); }
void* operator new[](std::size_t size) { return take(size); }
void operator delete(void* memory) noexcept { give_back(memory); }
void operator delete[](void* memory) noexcept { give_back(memory); }
void operator delete(void* memory, std::size_t /*size*/) noexcept { give_back(memory); }
void operator delete[](void* memory, std::size_t /*size*/) noexcept { give_back(memory); }

gpupool::bench::Heap gpupool::bench::heap() { return {g_calls.load(), g_live.load()}; }
