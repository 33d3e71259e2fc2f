#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <shared_mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "api/meta/resource_type.h"

namespace gpupool::runtime {

template <class K>
class StoreWriter;

// The last known state of all objects of a kind: many readers, one StoreWriter. Objects are immutable and shared, so reading copies
// nothing. Thread-safe. K has a `metadata` of api::ObjectMeta.
template <class K>
class Store {
 public:
  using Ptr = std::shared_ptr<const K>;
  using IndexFunction = std::function<std::vector<std::string>(const K&)>;

  // Before the first write only.
  void add_index(const std::string& name, IndexFunction function);

  Ptr get(const api::ObjectKey& key) const;              // null if there is none
  std::vector<Ptr> list() const;                         // in key order
  std::vector<Ptr> by_index(const std::string& name, const std::string& value) const;
  std::size_t size() const;

 private:
  friend class StoreWriter<K>;
  struct Index {
    IndexFunction function;
    std::unordered_map<std::string, std::set<api::ObjectKey>> keys;
  };
  void index_locked(const api::ObjectKey& key, const K* before, const K* after);

  mutable std::shared_mutex mutex_;
  std::map<api::ObjectKey, Ptr> objects_;
  std::map<std::string, Index> indexes_;
};

// What a write changed: `before` null for an addition, `after` null for a deletion. A delete and re-creation under one name may come
// as one change with two UIDs.
template <class K>
struct Change {
  std::shared_ptr<const K> before;
  std::shared_ptr<const K> after;
  bool initial = false;  // from the first list: background work
};

// The only writer of a Store; used by one thread. Each call returns or reports what changed after the store shows it.
template <class K>
class StoreWriter {
 public:
  explicit StoreWriter(Store<K>& store) : store_(store) {}
  Change<K> apply(K object);
  Change<K> remove(const api::ObjectKey& key);
  // Makes the store hold exactly these objects, in one step; returns all changes, deletions of vanished objects among them.
  std::vector<Change<K>> replace(std::vector<K> objects);

 private:
  Store<K>& store_;
};

}  // namespace gpupool::runtime

#include "runtime/cache/store_inl.h"
