// SPDX-License-Identifier: Apache-2.0
// Physical memory (cuMemCreate): charged from its creation until it has neither handles nor mappings,
// whatever the order in which the program gives these up. Memory imported from elsewhere is its exporter's:
// its handle is not in our table.
#include "limiter/cuda/physical.h"

#include <atomic>

#include "limiter/cuda/allocations.h"
#include "limiter/cuda/charge.h"
#include "limiter/cuda/driver_calls.h"
#include "limiter/cuda/session.h"
#include "limiter/cuda/table.h"

namespace gpupool::limiter {

namespace {

// One piece of memory, by a number of ours: the driver may give a handle's value again.
struct Piece {
  Charged charged;
  std::uint64_t holds;  // handles' references, mappings, and arrays
};

struct HandleEntry {
  std::uint64_t piece;
  std::uint64_t references;
};

struct Mapping {
  std::uint64_t piece;
  std::uint64_t size;
};

constinit Table<Piece> pieces;
constinit Table<HandleEntry> piece_handles;
constinit Table<Mapping> piece_mappings;        // by address
constinit Table<std::uint64_t> array_mappings;  // piece, by array_key()
constinit std::atomic<std::uint64_t> last_piece{0};

bool hold_piece(std::uint64_t piece) {
  return pieces.change(piece, false, [](Piece& held) {
    ++held.holds;
    return true;
  });
}

void let_go(std::uint64_t piece) {
  pieces.change(piece, false, [](Piece& held) {
    if (--held.holds != 0) {
      return true;
    }
    release(held.charged);
    return false;
  });
}

// Takes one reference off a handle and says of which piece. The piece is still held.
bool take_reference(CUmemGenericAllocationHandle handle, std::uint64_t& piece) {
  return piece_handles.change(handle, false, [&piece](HandleEntry& entry) {
    piece = entry.piece;
    return --entry.references != 0;
  });
}

void add_reference(CUmemGenericAllocationHandle handle, std::uint64_t piece) {
  piece_handles.change(handle, true, [piece](HandleEntry& entry) {
    entry.piece = piece;
    ++entry.references;
    return true;
  });
}

bool piece_at(std::uint64_t address, std::uint64_t& piece) {
  bool found = false;
  piece_mappings.each([&](std::uint64_t begin, const Mapping& mapping) {
    if (address >= begin && address - begin < mapping.size) {
      piece = mapping.piece;
      found = true;
    }
  });
  return found;
}

// One mapping to an array: of which array and which piece. An array keeps a piece until it is destroyed,
// since what is mapped over and unmapped tile by tile, in the order of a stream, cannot be followed from
// here.
std::uint64_t array_key(const void* array, std::uint64_t piece) {
  return (reinterpret_cast<std::uint64_t>(array) << 16U) ^ piece;
}

void array_mapped(const ArrayMapInfo& info) {
  HandleEntry entry{};
  if (info.operation != kMapOperationMap || !piece_handles.get(info.handle, entry)) {
    return;
  }
  bool is_new = false;
  array_mappings.change(array_key(info.resource, entry.piece), true, [&](std::uint64_t& piece) {
    is_new = piece == 0;
    piece = entry.piece;
    return true;
  });
  if (is_new) {
    hold_piece(entry.piece);
  }
}

template <typename Call>
CUresult map_arrays(const ArrayMapInfo* list, unsigned count, Call call) {
  const CUresult result = call();
  if (result == kSuccess && list != nullptr) {
    for (unsigned i = 0; i < count; ++i) {
      array_mapped(list[i]);
    }
  }
  return result;
}

}  // namespace

void array_unmapped(const void* array) {
  array_mappings.take_all([array](std::uint64_t key, const std::uint64_t& piece) {
    if (key != array_key(array, piece)) {
      return false;
    }
    let_go(piece);
    return true;
  });
}

void forget_physical_after_fork() {
  pieces.forget_after_fork();
  piece_handles.forget_after_fork();
  piece_mappings.forget_after_fork();
  array_mappings.forget_after_fork();
}

CUresult cuMemCreate(CUmemGenericAllocationHandle* handle, std::size_t size, const MemAllocationProp* prop,
                     unsigned long long flags) {
  const auto call = [=] { return REAL(cuMemCreate)(handle, size, prop, flags); };
  if (handle == nullptr || prop == nullptr || prop->location.type != kLocationDevice ||
      !session.limits_anything()) {
    return call();
  }
  const unsigned position = session.position(prop->location.id);
  const std::uint64_t bytes = round_to_blocks(size);
  Reserved reserved;
  if (!reserved.reserve(position, bytes)) {
    return kOutOfMemory;
  }
  const CUresult result = call_patiently(position, bytes, call);
  if (result == kSuccess && position != kUncharged) {
    const std::uint64_t piece = last_piece.fetch_add(1, std::memory_order_relaxed) + 1;
    pieces.put(piece, Piece{{bytes, position, Class::kPhysical}, 1});
    add_reference(*handle, piece);
    reserved.commit(Class::kPhysical, bytes);
  }
  return result;
}

CUresult cuMemRelease(CUmemGenericAllocationHandle handle) {
  Unsettled::begin();
  std::uint64_t piece = 0;
  const bool known = take_reference(handle, piece);
  const CUresult result = REAL(cuMemRelease)(handle);
  if (known && result == kSuccess) {
    let_go(piece);
  } else if (known) {
    add_reference(handle, piece);
  }
  Unsettled::end();
  return result;
}

CUresult cuMemRetainAllocationHandle(CUmemGenericAllocationHandle* handle, void* address) {
  std::uint64_t piece = 0;
  const bool known =
      handle != nullptr && piece_at(reinterpret_cast<std::uint64_t>(address), piece) && hold_piece(piece);
  const CUresult result = REAL(cuMemRetainAllocationHandle)(handle, address);
  if (known && result == kSuccess) {
    add_reference(*handle, piece);
  } else if (known) {
    let_go(piece);
  }
  return result;
}

// Memory of this process comes back as a handle of its own, or as another reference of the same.
CUresult cuMemImportFromShareableHandle(CUmemGenericAllocationHandle* handle, void* os_handle, Enum type) {
  const CUresult result = REAL(cuMemImportFromShareableHandle)(handle, os_handle, type);
  HandleEntry entry{};
  if (result == kSuccess && handle != nullptr && piece_handles.get(*handle, entry) &&
      hold_piece(entry.piece)) {
    add_reference(*handle, entry.piece);
  }
  return result;
}

CUresult cuMemMap(CUdeviceptr pointer, std::size_t size, std::size_t offset,
                  CUmemGenericAllocationHandle handle, unsigned long long flags) {
  HandleEntry entry{};
  const bool known = piece_handles.get(handle, entry) && hold_piece(entry.piece);
  const CUresult result = REAL(cuMemMap)(pointer, size, offset, handle, flags);
  if (known && result == kSuccess) {
    piece_mappings.put(pointer, Mapping{entry.piece, size});
  } else if (known) {
    let_go(entry.piece);
  }
  return result;
}

CUresult cuMemUnmap(CUdeviceptr pointer, std::size_t size) {
  Unsettled::begin();
  const CUresult result = REAL(cuMemUnmap)(pointer, size);
  if (result == kSuccess) {
    piece_mappings.take_all([=](std::uint64_t begin, const Mapping& mapping) {
      if (begin < pointer || begin - pointer >= size) {
        return false;
      }
      let_go(mapping.piece);
      return true;
    });
  }
  Unsettled::end();
  return result;
}

CUresult cuMemMapArrayAsync(ArrayMapInfo* list, unsigned count, CUstream stream) {
  return map_arrays(list, count, [=] { return REAL(cuMemMapArrayAsync)(list, count, stream); });
}

CUresult cuMemMapArrayAsync_ptsz(ArrayMapInfo* list, unsigned count, CUstream stream) {
  return map_arrays(list, count, [=] { return REAL(cuMemMapArrayAsync_ptsz)(list, count, stream); });
}

}  // namespace gpupool::limiter
