// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/mutex.h"
#include "runtime/cache/key_order.h"

namespace gpupool::runtime {

template <class K>
class StoreWriter;

// True if both have the same resourceVersion (not empty) and UID.
template <class K>
bool same_version(const K& a, const K& b) {
  return !a.metadata.resource_version.empty() && a.metadata.resource_version == b.metadata.resource_version &&
         a.metadata.uid == b.metadata.uid;
}

// The last known state of all objects of a kind. Any thread may read; one StoreWriter writes. Objects are
// immutable and shared by pointer, so reading copies nothing. Thread-safe. REQUIRES: K has a `metadata` of
// type api::ObjectMeta.
template <class K>
class Store {
 public:
  using Ptr = std::shared_ptr<const K>;
  using IndexFunction = std::function<std::vector<std::string>(const K&)>;

  // REQUIRES: called before the first write; the function is pure and quick.
  void add_index(const std::string& name, IndexFunction function);

  Ptr get(const api::ObjectKey& key) const;  // null if there is none
  std::vector<Ptr> list() const;             // in key order
  // In key order. Throws std::out_of_range if the index was never added, which is a bug.
  std::vector<Ptr> by_index(const std::string& name, const std::string& value) const;
  // Returns the values under which the index stores this object.
  std::vector<std::string> index_values(const std::string& name, const K& object) const;
  std::size_t size() const;

 private:
  friend class StoreWriter<K>;
  using Objects = std::set<Ptr, InKeyOrder>;

  struct Entry {
    std::string value;
    Ptr object;
  };
  using Place = std::pair<std::string_view, KeyView>;
  static Place place(const Entry& entry) { return {entry.value, key_view(entry.object)}; }
  struct InValueOrder {
    using is_transparent = void;
    bool operator()(const Entry& a, const Entry& b) const { return place(a) < place(b); }
    bool operator()(const Entry& a, const Place& b) const { return place(a) < b; }
    bool operator()(const Place& a, const Entry& b) const { return a < place(b); }
    bool operator()(const Entry& a, std::string_view b) const { return a.value < b; }
    bool operator()(std::string_view a, const Entry& b) const { return a < b.value; }
  };
  struct Index {
    IndexFunction function;
    std::set<Entry, InValueOrder> entries = {};

    void update(const Ptr& before, const Ptr& after);
  };
  using Indexes = std::map<std::string, Index>;

  mutable base::SharedMutex mutex_;
  Objects objects_ GPUPOOL_GUARDED_BY(mutex_);
  Indexes indexes_ GPUPOOL_GUARDED_BY(mutex_);
};

// One change of the store. `before` is null for an addition, `after` for a deletion. A deletion and a new
// creation under one name may arrive as one change with two UIDs.
template <class K>
struct Change {
  std::shared_ptr<const K> before;
  std::shared_ptr<const K> after;
  bool initial = false;  // from the first list; handled as background work
};

// The only writer of a Store; used by one thread, the reflector's. Each call returns its changes after the
// store shows them.
template <class K>
class StoreWriter {
 public:
  explicit StoreWriter(Store<K>& store) : store_(store) {}
  Change<K> apply(K object);
  Change<K> remove(const api::ObjectKey& key);  // both null if there was no such object
  // Replaces the content of the store by exactly these objects, in one step. Returns all changes, deletions
  // first. An object with the UID and resourceVersion of the stored one is not a change.
  std::vector<Change<K>> replace(std::vector<std::shared_ptr<const K>> objects);

 private:
  Store<K>& store_;
};

}  // namespace gpupool::runtime

#include "runtime/cache/store_inl.h"
