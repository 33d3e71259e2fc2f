// SPDX-License-Identifier: Apache-2.0
#include "limiter/cuda/pool_charge.h"

#include <algorithm>
#include <array>
#include <atomic>

#include "limiter/cuda/allocations.h"
#include "limiter/cuda/driver_calls.h"
#include "limiter/cuda/session.h"
#include "limiter/cuda/table.h"

namespace gpupool::limiter {

namespace {

struct Pool {
  CUmemoryPool handle;  // nullptr: the graphs' of `device`
  CUdevice device;
  std::uint32_t position;
  std::uint64_t counted;       // bytes that are charged
  std::uint64_t pointers;      // that are not freed
  std::uint64_t inside;        // bytes of the requests that the driver is working on
  std::uint64_t reserved_for;  // bytes reserved for these
  std::uint64_t finished;      // counts requests, so that what was read before one ended is known to be old
  std::uint64_t reads;         // counts reads of what the pool has
  std::uint64_t applied;       // the latest read that was charged
  std::uint64_t step;          // what it grows in multiples of, as far as seen; 0: blocks
  bool destroyed;
};

constinit Table<Pool> pools;                   // by number
constinit Table<std::uint64_t> pool_numbers;   // by handle; 0: nothing is charged for this one
constinit Table<std::uint64_t> graph_numbers;  // by device + 1
constinit std::atomic<std::uint64_t> last_pool{0};

// By the device's position: frees, and changes of thresholds, that pools may not have acted upon; and how
// many of them a wait for the device came after.
constinit std::array<std::atomic<std::uint64_t>, kMaxDevices> pools_freed;
constinit std::array<std::atomic<std::uint64_t>, kMaxDevices> pools_waited;

bool device_may_have_shrunk(unsigned position) {
  return pools_freed[position].load(std::memory_order_relaxed) !=
         pools_waited[position].load(std::memory_order_relaxed);
}

constexpr int kTries = 64;
constexpr std::uint64_t kLargestStep = 256ULL << 20U;

std::uint64_t round_up(std::uint64_t bytes, std::uint64_t step) {
  const std::uint64_t rounded = (bytes + step - 1) / step * step;
  return rounded >= bytes ? rounded : ~0ULL;
}

Class pool_class(const Pool& pool) { return pool.handle == nullptr ? Class::kGraph : Class::kPool; }

bool read_reserved(const Pool& pool, std::uint64_t& bytes) {
  const CUresult result =
      pool.handle == nullptr
          ? driver::cuDeviceGetGraphMemAttribute(pool.device, kGraphReservedCurrent, &bytes)
          : driver::cuMemPoolGetAttribute(pool.handle, kPoolReservedCurrent, &bytes);
  return result == kSuccess;
}

bool read_used(const Pool& pool, std::uint64_t& bytes) {
  const CUresult result = pool.handle == nullptr
                              ? driver::cuDeviceGetGraphMemAttribute(pool.device, kGraphUsedCurrent, &bytes)
                              : driver::cuMemPoolGetAttribute(pool.handle, kPoolUsedCurrent, &bytes);
  return result == kSuccess;
}

// What the pool can give without growing.
std::uint64_t free_in(const Pool& pool) {
  std::uint64_t reserved = 0;
  std::uint64_t used = 0;
  return read_reserved(pool, reserved) && read_used(pool, used) && reserved > used ? reserved - used : 0;
}

std::uint64_t add_pool(CUmemoryPool handle, CUdevice device) {
  const unsigned position = session.position(device);
  if (position == kUncharged) {
    return 0;
  }
  const std::uint64_t number = last_pool.fetch_add(1, std::memory_order_relaxed) + 1;
  Pool pool{};
  pool.handle = handle;
  pool.device = device;
  pool.position = position;
  return pools.put(number, pool) ? number : 0;
}

std::uint64_t known_or_added(Table<std::uint64_t>& numbers, std::uint64_t key, CUmemoryPool handle,
                             CUdevice device) {
  std::uint64_t number = 0;
  if (numbers.get(key, number)) {
    return number;
  }
  number = add_pool(handle, device);
  if (number == 0) {
    return 0;
  }
  // Another thread may have been first.
  std::uint64_t winner = 0;
  numbers.change(key, true, [&](std::uint64_t& stored) {
    stored = stored == 0 ? number : stored;
    winner = stored;
    return true;
  });
  if (winner != number) {
    Pool unused{};
    pools.take(number, unused);
  }
  return winner;
}

// The smallest power of two of which `grown` bytes are a multiple, where `needed` would not have been.
std::uint64_t step_of(std::uint64_t grown, std::uint64_t needed) {
  std::uint64_t step = kBlock;
  while (step < kLargestStep && round_up(needed, step) < grown) {
    step *= 2;
  }
  return step;
}

// Charges what was read as number `read`; `reserved` is no longer reserved. False: the pool grew by more than
// was reserved, and that is more than the container may have.
// `request`: bytes of the request whose reservation it is.
bool charge_pool(std::uint64_t number, std::uint64_t read, std::uint64_t bytes, Reserved* reserved,
                 std::uint64_t request) {
  bool more = false;
  unsigned position = kUncharged;
  pools.change(number, false, [&](Pool& pool) {
    std::uint64_t grown = 0;
    position = pool.position;
    if (read > pool.applied) {
      pool.applied = read;
      grown = bytes > pool.counted ? bytes - pool.counted : 0;
      if (bytes < pool.counted) {
        release(Charged{pool.counted - bytes, pool.position, pool_class(pool)});
      }
      pool.counted = bytes;
    }
    if (grown != 0 && position < kMaxDevices) {  // by whole steps, of which a wait may give some back
      pools_freed[position].fetch_add(1, std::memory_order_relaxed);
    }
    if (reserved != nullptr) {
      // With others inside it is not known whose growth that is.
      more = grown > reserved->bytes() && pool.inside == request;
      if (more) {
        pool.step = std::max(pool.step, step_of(grown, std::max(reserved->bytes(), kBlock)));
      }
      reserved->commit(pool_class(pool), grown);
    } else if (grown != 0) {
      session.ledger().commit(pool.position, pool_class(pool), 0, grown);
    }
    return true;
  });
  return !more || session.ledger().used(position) <= session.ledger().limit(position);
}

bool read_and_charge(std::uint64_t number, Reserved* reserved, std::uint64_t request) {
  Pool pool{};
  std::uint64_t read = 0;
  const bool known = pools.change(number, false, [&](Pool& current) {
    read = ++current.reads;
    pool = current;
    return true;
  });
  if (!known || pool.destroyed) {
    return true;
  }
  std::uint64_t bytes = 0;
  if (read_reserved(pool, bytes)) {
    return charge_pool(number, read, bytes, reserved, request);
  }
  return reserved == nullptr ||
         charge_pool(number, read, pool.counted + reserved->bytes(), reserved, request);
}

}  // namespace

std::uint64_t pool_number(CUmemoryPool pool, CUdevice device) {
  return known_or_added(pool_numbers, reinterpret_cast<std::uint64_t>(pool), pool, device);
}

bool find_pool(CUmemoryPool pool, std::uint64_t& number) {
  return pool_numbers.get(reinterpret_cast<std::uint64_t>(pool), number);
}

std::uint64_t graph_pool_number(CUdevice device) {
  return known_or_added(graph_numbers, static_cast<std::uint64_t>(device) + 1, nullptr, device);
}

void pool_created(CUmemoryPool pool, CUdevice device) {
  pool_numbers.put(reinterpret_cast<std::uint64_t>(pool), device == kNoDevice ? 0 : add_pool(pool, device));
}

void pool_destroyed(CUmemoryPool handle) {
  std::uint64_t number = 0;
  if (!pool_numbers.take(reinterpret_cast<std::uint64_t>(handle), number) || number == 0) {
    return;
  }
  pools.change(number, false, [](Pool& pool) {
    pool.destroyed = true;
    if (pool.pointers != 0) {
      return true;
    }
    release(Charged{pool.counted, pool.position, pool_class(pool)});
    return false;
  });
}

PoolRequest::~PoolRequest() { leave(); }

void PoolRequest::leave() {
  if (inside_) {
    inside_ = false;
    pools.change(number_, false, [this](Pool& pool) {
      pool.inside -= bytes_;
      pool.reserved_for -= need_;
      ++pool.finished;
      return true;
    });
  }
}

bool PoolRequest::reserve(std::uint64_t bytes) {
  bytes_ = round_to_blocks(bytes);
  Pool before{};
  for (int tries = 0; pools.get(number_, before); ++tries) {
    const std::uint64_t free = free_in(before);
    bool old = false;
    pools.change(number_, false, [&](Pool& pool) {
      old = pool.finished != before.finished && tries < kTries;
      if (!old) {
        const std::uint64_t covered = free + pool.reserved_for;
        const std::uint64_t wanted = pool.inside + bytes_;
        need_ = wanted < bytes_    ? bytes_
                : wanted > covered ? round_up(wanted - covered, std::max(pool.step, kBlock))
                                   : 0;
        had_ = pool.counted;
        pool.inside += bytes_;
        pool.reserved_for += need_;
        inside_ = true;
      }
      return true;
    });
    if (!old) {
      break;
    }
  }
  return !inside_ || reserved_.reserve(before.position, need_);
}

bool PoolRequest::settle() {
  const bool fits = read_and_charge(number_, &reserved_, bytes_);
  leave();
  return fits;
}

void settle_pool(std::uint64_t number) { read_and_charge(number, nullptr, 0); }

void settle_pools(unsigned position) {
  // In the order of their numbers: nothing is held while the driver is asked.
  for (std::uint64_t last = 0;;) {
    std::uint64_t next = ~0ULL;
    pools.each([&](std::uint64_t number, const Pool& pool) {
      if (number > last && number < next && (position == kUncharged || pool.position == position)) {
        next = number;
      }
    });
    if (next == ~0ULL) {
      return;
    }
    settle_pool(next);
    last = next;
  }
}

void allocated_from_pool(std::uint64_t number) {
  pools.change(number, false, [](Pool& pool) {
    ++pool.pointers;
    return true;
  });
}

void pool_may_shrink(std::uint64_t number) {
  Pool pool{};
  if (pools.get(number, pool) && pool.position < kMaxDevices) {
    pools_freed[pool.position].fetch_add(1, std::memory_order_relaxed);
  }
}

void freed_to_pool(std::uint64_t number) {
  pool_may_shrink(number);
  pools.change(number, false, [](Pool& pool) {
    pool.pointers -= pool.pointers == 0 ? 0 : 1;
    if (!pool.destroyed || pool.pointers != 0) {
      return true;
    }
    release(Charged{pool.counted, pool.position, pool_class(pool)});
    return false;
  });
  settle_pool(number);
}

bool pools_may_have_shrunk(unsigned position) {
  if (position < kMaxDevices) {
    return device_may_have_shrunk(position);
  }
  bool any = false;
  for (unsigned each = 0; each < kMaxDevices; ++each) {
    any = any || device_may_have_shrunk(each);
  }
  return any;
}

void pools_have_waited(unsigned position) {
  const bool one = position < kMaxDevices;
  const std::uint64_t freed = one ? pools_freed[position].load(std::memory_order_relaxed) : 0;
  settle_pools(kUncharged);
  if (one) {
    pools_waited[position].store(freed, std::memory_order_relaxed);
  }
}

void forget_pools_after_fork() {
  pools.forget_after_fork();
  pool_numbers.forget_after_fork();
  graph_numbers.forget_after_fork();
  for (unsigned position = 0; position < kMaxDevices; ++position) {
    pools_freed[position].store(0, std::memory_order_relaxed);
    pools_waited[position].store(0, std::memory_order_relaxed);
  }
}

}  // namespace gpupool::limiter
