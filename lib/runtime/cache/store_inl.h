// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "runtime/cache/store.h"

namespace gpupool::runtime {

template <class K>
void Store<K>::add_index(const std::string& name, IndexFunction function) {
  const base::WriterLock lock(mutex_);
  indexes_.insert_or_assign(name, Index{std::move(function)});
}

template <class K>
typename Store<K>::Ptr Store<K>::get(const api::ObjectKey& key) const {
  const base::ReaderLock lock(mutex_);
  const auto found = objects_.find(key);
  return found == objects_.end() ? nullptr : *found;
}

template <class K>
std::vector<typename Store<K>::Ptr> Store<K>::list() const {
  const base::ReaderLock lock(mutex_);
  return {objects_.begin(), objects_.end()};
}

template <class K>
std::vector<typename Store<K>::Ptr> Store<K>::by_index(const std::string& name,
                                                       const std::string& value) const {
  const base::ReaderLock lock(mutex_);
  const auto& entries = indexes_.at(name).entries;
  std::vector<Ptr> matches;
  const auto [begin, end] = entries.equal_range(std::string_view(value));
  for (auto entry = begin; entry != end; ++entry) matches.push_back(entry->object);
  return matches;
}

template <class K>
std::vector<std::string> Store<K>::index_values(const std::string& name, const K& object) const {
  const base::ReaderLock lock(mutex_);
  return indexes_.at(name).function(object);
}

template <class K>
std::size_t Store<K>::size() const {
  const base::ReaderLock lock(mutex_);
  return objects_.size();
}

template <class K>
void Store<K>::Index::update(const Ptr& before, const Ptr& after) {
  const auto values_before = before ? function(*before) : std::vector<std::string>();
  auto values = after ? function(*after) : std::vector<std::string>();
  const bool same = values == values_before;
  for (const auto& value : values_before) {
    const auto found = entries.find(Place{value, key_view(before)});
    if (found == entries.end()) continue;
    auto entry = entries.extract(found);
    if (!same) continue;
    entry.value().object = after;
    entries.insert(std::move(entry));
  }
  if (same) return;
  for (auto& value : values) entries.insert({std::move(value), after});
}

template <class K>
Change<K> StoreWriter<K>::apply(K object) {
  Change<K> change;
  change.after = std::make_shared<const K>(std::move(object));
  const base::WriterLock lock(store_.mutex_);
  auto& objects = store_.objects_;
  const auto found = objects.find(change.after);
  if (found == objects.end()) {
    objects.insert(change.after);
  } else {
    const auto next = std::next(found);
    auto slot = objects.extract(found);
    change.before = std::exchange(slot.value(), change.after);
    objects.insert(next, std::move(slot));
  }
  for (auto& [name, index] : store_.indexes_) index.update(change.before, change.after);
  return change;
}

template <class K>
Change<K> StoreWriter<K>::remove(const api::ObjectKey& key) {
  Change<K> change;
  const base::WriterLock lock(store_.mutex_);
  const auto found = store_.objects_.find(key);
  if (found == store_.objects_.end()) return change;
  change.before = *found;
  store_.objects_.erase(found);
  for (auto& [name, index] : store_.indexes_) index.update(change.before, nullptr);
  return change;
}

template <class K>
std::vector<Change<K>> StoreWriter<K>::replace(std::vector<std::shared_ptr<const K>> objects) {
  // Nobody else writes, so all of it is prepared while readers go on.
  typename Store<K>::Objects next;
  typename Store<K>::Indexes indexes;
  std::vector<Change<K>> all;
  {
    const base::ReaderLock lock(store_.mutex_);
    std::vector<Change<K>> changes;
    for (auto& object : objects) {
      const auto found = store_.objects_.find(object);
      auto before = found == store_.objects_.end() ? nullptr : *found;
      const bool same = before && same_version(*before, *object);
      auto after = same ? before : std::move(object);
      if (const auto [slot, added] = next.insert(after); !added) {  // listed twice: the later one counts
        next.erase(slot);
        next.insert(after);
      }
      if (!same) changes.push_back({std::move(before), std::move(after)});
    }
    for (const auto& object : store_.objects_) {
      if (!next.contains(object)) all.push_back({object, nullptr});
    }
    for (auto& change : changes) all.push_back(std::move(change));

    for (const auto& [name, index] : store_.indexes_) {
      auto& rebuilt = indexes.emplace(name, typename Store<K>::Index{index.function}).first->second;
      for (const auto& object : next) rebuilt.update(nullptr, object);
    }
  }
  const base::WriterLock lock(store_.mutex_);
  store_.objects_.swap(next);
  store_.indexes_.swap(indexes);
  return all;
}

}  // namespace gpupool::runtime
