// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/mman.h>

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "limiter/cuda/lock.h"

namespace gpupool::limiter {

// A hash table from pointers or handles of the driver (never 0) to small values, on pages of its own: the
// program's heap may be one that is not to be entered here. All zeros is an empty table. Thread-safe; each
// method locks one part of it, or one after the other.
template <typename Value>
class Table {
  static_assert(std::is_trivially_copyable_v<Value> && std::is_trivially_destructible_v<Value>);

 public:
  // Adds or replaces. False: no memory for it.
  bool put(std::uint64_t key, const Value& value) {
    Shard& shard = shard_of(key);
    const Locked locked(shard.lock);
    Entry* const entry = place(shard, key);
    if (entry != nullptr) {
      entry->value = value;
    }
    return entry != nullptr;
  }

  bool get(std::uint64_t key, Value& value) {
    Shard& shard = shard_of(key);
    const Locked locked(shard.lock);
    const Entry* const entry = find(shard, key);
    if (entry != nullptr) {
      value = entry->value;
    }
    return entry != nullptr;
  }

  // Removes it and says what it was.
  bool take(std::uint64_t key, Value& value) {
    Shard& shard = shard_of(key);
    const Locked locked(shard.lock);
    Entry* const entry = find(shard, key);
    if (entry == nullptr) {
      return false;
    }
    value = entry->value;
    erase(shard, entry);
    return true;
  }

  // Calls change(value) under the lock; a new entry is all zeros if `add`. change() returns whether the entry
  // stays. False: it is not there, or no memory for it.
  template <typename Change>
  bool change(std::uint64_t key, bool add, Change change) {
    Shard& shard = shard_of(key);
    const Locked locked(shard.lock);
    Entry* const entry = add ? place(shard, key) : find(shard, key);
    if (entry == nullptr) {
      return false;
    }
    if (!change(entry->value)) {
      erase(shard, entry);
    }
    return true;
  }

  // Removes all entries of which chosen(key, value) says true. It is called under the lock of their part.
  template <typename Chosen>
  void take_all(Chosen chosen) {
    for (Shard& shard : shards_) {
      const Locked locked(shard.lock);
      for (std::size_t i = 0; i < shard.capacity;) {
        Entry& entry = shard.entries[i];
        if (entry.key != 0 && chosen(entry.key, entry.value)) {
          erase(shard, &entry);  // what moved up is looked at next
        } else {
          ++i;
        }
      }
    }
  }

  // Calls visit(key, value) for each entry, under the lock of its part.
  template <typename Visit>
  void each(Visit visit) {
    for (Shard& shard : shards_) {
      const Locked locked(shard.lock);
      for (std::size_t i = 0; i < shard.capacity; ++i) {
        if (shard.entries[i].key != 0) {
          visit(shard.entries[i].key, shard.entries[i].value);
        }
      }
    }
  }

  // In the child of a fork: nothing of the parent's is the child's.
  void forget_after_fork() {
    for (Shard& shard : shards_) {
      shard.lock.reset();
      if (shard.entries != nullptr) {
        munmap(shard.entries, shard.capacity * sizeof(Entry));
      }
      shard.entries = nullptr;
      shard.capacity = 0;
      shard.count = 0;
    }
  }

 private:
  struct Entry {
    std::uint64_t key;  // 0: free
    Value value;
  };
  struct Shard {
    Lock lock;
    Entry* entries = nullptr;
    std::size_t capacity = 0;  // a power of two, or 0
    std::size_t count = 0;
  };
  static constexpr std::size_t kShards = 16;
  static constexpr std::size_t kFirstCapacity = 128;

  static std::uint64_t hash(std::uint64_t key) {
    key ^= key >> 33U;
    key *= 0xff51afd7ed558ccdULL;
    key ^= key >> 33U;
    key *= 0xc4ceb9fe1a85ec53ULL;
    return key ^ (key >> 33U);
  }

  Shard& shard_of(std::uint64_t key) { return shards_[hash(key) % kShards]; }
  static std::size_t home(const Shard& shard, std::uint64_t key) {
    return (hash(key) / kShards) & (shard.capacity - 1);
  }

  static Entry* find(Shard& shard, std::uint64_t key) {
    if (shard.capacity == 0 || key == 0) {
      return nullptr;
    }
    for (std::size_t i = home(shard, key);; i = (i + 1) & (shard.capacity - 1)) {
      if (shard.entries[i].key == key) {
        return &shard.entries[i];
      }
      if (shard.entries[i].key == 0) {
        return nullptr;
      }
    }
  }

  static Entry* place(Shard& shard, std::uint64_t key) {
    Entry* entry = find(shard, key);
    if (entry != nullptr || key == 0) {
      return entry;
    }
    if ((shard.count + 1) * 3 > shard.capacity * 2 && !grow(shard)) {
      return nullptr;
    }
    std::size_t i = home(shard, key);
    while (shard.entries[i].key != 0) {
      i = (i + 1) & (shard.capacity - 1);
    }
    entry = &shard.entries[i];
    *entry = Entry{};
    entry->key = key;
    ++shard.count;
    return entry;
  }

  static bool grow(Shard& shard) {
    Shard bigger;
    bigger.capacity = shard.capacity == 0 ? kFirstCapacity : shard.capacity * 2;
    void* const pages = mmap(nullptr, bigger.capacity * sizeof(Entry), PROT_READ | PROT_WRITE,
                             MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (pages == MAP_FAILED) {
      return false;
    }
    bigger.entries = static_cast<Entry*>(pages);
    for (std::size_t i = 0; i < shard.capacity; ++i) {
      if (shard.entries[i].key != 0) {
        std::size_t to = home(bigger, shard.entries[i].key);
        while (bigger.entries[to].key != 0) {
          to = (to + 1) & (bigger.capacity - 1);
        }
        bigger.entries[to] = shard.entries[i];
      }
    }
    if (shard.entries != nullptr) {
      munmap(shard.entries, shard.capacity * sizeof(Entry));
    }
    shard.entries = bigger.entries;
    shard.capacity = bigger.capacity;
    return true;
  }

  // Moves what follows up, so that no search ends early.
  static void erase(Shard& shard, Entry* entry) {
    const std::size_t mask = shard.capacity - 1;
    auto hole = static_cast<std::size_t>(entry - shard.entries);
    for (std::size_t i = (hole + 1) & mask; shard.entries[i].key != 0; i = (i + 1) & mask) {
      const std::size_t from = home(shard, shard.entries[i].key);
      if (((i - from) & mask) >= ((i - hole) & mask)) {
        shard.entries[hole] = shard.entries[i];
        hole = i;
      }
    }
    shard.entries[hole].key = 0;
    --shard.count;
  }

  Shard shards_[kShards];
};

}  // namespace gpupool::limiter
