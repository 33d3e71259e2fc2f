// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "limiter/cuda/types.h"

// A driver with memory alone, for the tests of limiter/cuda: each byte that it holds is counted, and any call
// can be made to fail. It is not NVIDIA's and knows no kernels.
#define STANDIN extern "C" __attribute__((visibility("default"))) ::gpupool::limiter::CUresult

// A call of this function, after `good` ones, fails with this result and does nothing.
extern "C" __attribute__((visibility("default"))) void standin_fail(const char* name, int result, int good);
// Bytes of a device that this process holds.
extern "C" __attribute__((visibility("default"))) std::uint64_t standin_bytes(int device);

namespace gpupool::standin {

using namespace limiter;

inline constexpr int kDevices = 2;
inline constexpr std::uint64_t kMib = 1ULL << 20U;
inline constexpr std::uint64_t kGranule = 2 * kMib;
inline constexpr std::uint64_t kContextBytes = 64 * kMib;

inline std::uint64_t round_to(std::uint64_t bytes, std::uint64_t step) {
  return (bytes + step - 1) / step * step;
}

struct Context {
  int device;
  std::size_t limits[3] = {1024, kMib, 8 * kMib};
  std::uint64_t grown = 0;
};

struct Piece {  // physical memory with handles and mappings
  int device;   // -1: the host's
  std::uint64_t bytes;
  unsigned holds;
};

struct Pool {
  int device;  // -1: the host's
  std::uint64_t step;
  std::uint64_t reserved = 0;
  std::uint64_t used = 0;
  std::uint64_t threshold = 0;
  bool destroyed = false;
};

struct Range {
  int device;
  Context* context;       // owner; nullptr: none
  std::uint64_t charged;  // 0: in a shared block, or of a pool, or imported
  std::uint64_t block;    // the shared block; 0: none
  Pool* pool;
  std::uint64_t bytes;
};

struct Array {
  int device;  // -1: its memory comes later
  std::uint64_t bytes;
  Context* context;
};

struct Node {
  Enum type;
  MemAllocNodeParams params;
};

struct Graph {
  std::vector<Node*> nodes;
};

struct Exec {
  int device;
  std::uint64_t bytes;
  bool backed;
};

// All of it; `mutex` is held by every call.
struct World {
  std::recursive_mutex mutex;
  bool forked = false;                                  // in a child nothing works
  std::map<std::string, std::pair<int, int>> failures;  // good calls before it, result
  std::uint64_t held[kDevices] = {};
  std::uint64_t next_address = 1ULL << 40U;
  std::uint64_t next_handle = 0x1000;
  std::set<Context*> contexts;
  Context* primary[kDevices] = {};
  int primary_users[kDevices] = {};
  std::map<std::uint64_t, Range> ranges;
  std::map<std::uint64_t, std::map<std::uint64_t, std::uint64_t>> blocks;  // shared: size by offset
  std::map<std::uint64_t, std::pair<Piece*, unsigned>> handles;
  std::map<std::uint64_t, std::pair<Piece*, std::uint64_t>> mappings;
  std::map<void*, Array> arrays;
  std::set<Pool*> pools;
  Pool* default_pool[kDevices] = {};
  Pool* current_pool[kDevices] = {};
  std::set<Exec*> execs;
  std::uint64_t graph_reserved[kDevices] = {};
  std::uint64_t graph_used[kDevices] = {};
};

World& world();
std::vector<Context*>& stack();  // the thread's
inline Context* current() { return stack().empty() ? nullptr : stack().back(); }

// Bytes of the device, if the GPU has them: other processes may hold some.
bool take_bytes(int device, std::uint64_t bytes);
void give_bytes(int device, std::uint64_t bytes);

// Runs a call's body with the lock, unless it is to fail.
template <typename Body>
CUresult call(const char* name, Body body) {
  World& w = world();
  const std::lock_guard lock(w.mutex);
  if (w.forked) return kNotInitialized;
  const auto failure = w.failures.find(name);
  if (failure != w.failures.end() && failure->second.first-- == 0) {
    const int result = failure->second.second;
    w.failures.erase(failure);
    return result;
  }
  return body(w);
}

inline constexpr CUresult kNoContext = 201;
inline constexpr CUresult kBadHandle = 400;

// Frees a range that is in `ranges`, and erases it.
void free_range(World& w, std::map<std::uint64_t, Range>::iterator at);
void shrink_pool(Pool& pool, std::uint64_t keep);

}  // namespace gpupool::standin
