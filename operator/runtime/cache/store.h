#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <shared_mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "runtime/cache/key_order.h"

namespace gpupool::runtime {

template <class K>
class StoreWriter;

// Whether these are one object in one state; never without a version.
template <class K>
bool same_version(const K& a, const K& b) {
  return !a.metadata.resource_version.empty() && a.metadata.resource_version == b.metadata.resource_version &&
         a.metadata.uid == b.metadata.uid;
}

// The last known state of all objects of a kind: many readers, one StoreWriter. Objects are immutable and
// shared, so reading copies nothing. Thread-safe. K has a `metadata` of api::ObjectMeta.
template <class K>
class Store {
 public:
  using Ptr = std::shared_ptr<const K>;
  using IndexFunction = std::function<std::vector<std::string>(const K&)>;

  // Before the first write only. The function must be pure and quick.
  void add_index(const std::string& name, IndexFunction function);

  Ptr get(const api::ObjectKey& key) const;  // null if there is none
  std::vector<Ptr> list() const;             // in key order
  // In key order. An index that was never added is a bug: std::out_of_range.
  std::vector<Ptr> by_index(const std::string& name, const std::string& value) const;
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

  mutable std::shared_mutex mutex_;
  Objects objects_;
  Indexes indexes_;
};

// What a write changed: `before` null for an addition, `after` null for a deletion. A delete and re-creation
// under one name may come as one change with two UIDs.
template <class K>
struct Change {
  std::shared_ptr<const K> before;
  std::shared_ptr<const K> after;
  bool initial = false;  // from the first list: background work
};

// The only writer of a Store; used by one thread. Each call returns what changed after the store shows it.
template <class K>
class StoreWriter {
 public:
  explicit StoreWriter(Store<K>& store) : store_(store) {}
  Change<K> apply(K object);
  Change<K> remove(const api::ObjectKey& key);  // both null if there was no such object
  // Makes the store hold exactly these objects, in one step; returns all changes, deletions of vanished
  // objects first. An object that is stored with the same UID and resourceVersion is no change.
  std::vector<Change<K>> replace(std::vector<std::shared_ptr<const K>> objects);

 private:
  Store<K>& store_;
};

}  // namespace gpupool::runtime

#include "runtime/cache/store_inl.h"
