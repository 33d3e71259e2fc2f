// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <vector>

#include "tests/fake-cuda/backing.h"
#include "tests/fake-cuda/types.h"

namespace gpupool::fake_cuda {

struct Device;

// Everything is done when a call returns; `clock_ns` is the GPU time at which it would be on a real one.
struct Stream {
  Context* context = nullptr;
  unsigned int flags = 0;
  int priority = 0;
  std::uint64_t clock_ns = 0;
  Graph* capture = nullptr;  // null: it does not capture
};

struct Event {
  Context* context = nullptr;
  unsigned int flags = 0;
  bool recorded = false;
  std::uint64_t at_ns = 0;
};
inline constexpr unsigned int kEventDisableTiming = 2;

// Memory of cuMemCreate. It lives until it has neither handles nor mappings.
struct Physical {
  Device* device = nullptr;  // null: memory of the host, which takes nothing of a GPU
  AllocationProperties properties{};
  std::uint64_t size = 0;
  std::shared_ptr<Backing> backing;
  unsigned handles = 0;
  unsigned mappings = 0;
  std::uint64_t shared = 0;  // number in the state file once it was exported or if it was imported
};

// A part of an array to which memory is mapped: kind of subresource, and its place.
using Tile = std::array<std::uint64_t, 4>;

struct Array {
  Context* context = nullptr;
  Array3DDescriptor descriptor{};
  std::uint64_t size = 0;
  std::uint64_t charged = 0;  // 0 also if its memory is to be mapped
  unsigned levels = 1;
  std::map<Tile, std::shared_ptr<Physical>> tiles;  // what is mapped to it
};

// What a program holds beside contexts and linear memory. Pointers are the program's handles.
struct Objects {
  std::set<Stream*> streams;
  std::set<Event*> events;
  std::set<Array*> arrays;
  std::set<Pool*> pools;
  std::set<Graph*> graphs;
  std::set<GraphExec*> graph_execs;
  std::map<std::uint64_t, std::shared_ptr<Physical>> physical;  // by handle
  std::uint64_t last_handle = 0;
  std::uint64_t kernel_ns = 10'000;  // what each launch takes
  std::map<Device*, Stream> default_streams;
};

}  // namespace gpupool::fake_cuda
