#pragma once

#include "runtime/cache/store.h"

namespace gpupool::runtime {

template <class K>
void Store<K>::add_index(const std::string& name, IndexFunction function) {
  const std::unique_lock lock(mutex_);
  indexes_.insert_or_assign(name, Index{std::move(function)});
}

template <class K>
typename Store<K>::Ptr Store<K>::get(const api::ObjectKey& key) const {
  const std::shared_lock lock(mutex_);
  const auto found = objects_.find(key);
  return found == objects_.end() ? nullptr : found->second;
}

template <class K>
std::vector<typename Store<K>::Ptr> Store<K>::list() const {
  const std::shared_lock lock(mutex_);
  std::vector<Ptr> all;
  all.reserve(objects_.size());
  for (const auto& [key, object] : objects_) all.push_back(object);
  return all;
}

template <class K>
std::vector<typename Store<K>::Ptr> Store<K>::by_index(const std::string& name,
                                                       const std::string& value) const {
  const std::shared_lock lock(mutex_);
  const auto& keys = indexes_.at(name).keys;
  std::vector<Ptr> matches;
  const auto found = keys.find(value);
  if (found == keys.end()) return matches;
  for (const auto& key : found->second) matches.push_back(objects_.at(key));
  return matches;
}

template <class K>
std::size_t Store<K>::size() const {
  const std::shared_lock lock(mutex_);
  return objects_.size();
}

template <class K>
void Store<K>::Index::update(const api::ObjectKey& key, const K* before, const K* after) {
  if (before != nullptr) {
    for (const auto& value : function(*before)) {
      const auto found = keys.find(value);
      if (found == keys.end()) continue;
      found->second.erase(key);
      if (found->second.empty()) keys.erase(found);
    }
  }
  if (after != nullptr) {
    for (const auto& value : function(*after)) keys[value].insert(key);
  }
}

template <class K>
Change<K> StoreWriter<K>::apply(K object) {
  const auto key = object.metadata.key();
  Change<K> change;
  change.after = std::make_shared<const K>(std::move(object));
  const std::unique_lock lock(store_.mutex_);
  auto& slot = store_.objects_[key];
  change.before = std::exchange(slot, change.after);
  for (auto& [name, index] : store_.indexes_) index.update(key, change.before.get(), change.after.get());
  return change;
}

template <class K>
Change<K> StoreWriter<K>::remove(const api::ObjectKey& key) {
  Change<K> change;
  const std::unique_lock lock(store_.mutex_);
  const auto found = store_.objects_.find(key);
  if (found == store_.objects_.end()) return change;
  change.before = std::move(found->second);
  store_.objects_.erase(found);
  for (auto& [name, index] : store_.indexes_) index.update(key, change.before.get(), nullptr);
  return change;
}

template <class K>
std::vector<Change<K>> StoreWriter<K>::replace(std::vector<K> objects) {
  // Nobody else writes, so all of it can be prepared while readers go on.
  typename Store<K>::Objects next;
  std::vector<Change<K>> changes;
  for (auto& object : objects) {
    const auto key = object.metadata.key();
    const auto found = store_.objects_.find(key);
    auto before = found == store_.objects_.end() ? nullptr : found->second;
    const bool same = before && !object.metadata.resource_version.empty() &&
                      before->metadata.resource_version == object.metadata.resource_version &&
                      before->metadata.uid == object.metadata.uid;
    auto after = same ? before : std::make_shared<const K>(std::move(object));
    next.insert_or_assign(key, after);
    if (!same) changes.push_back({std::move(before), std::move(after)});
  }
  std::vector<Change<K>> all;
  for (const auto& [key, object] : store_.objects_) {
    if (!next.contains(key)) all.push_back({object, nullptr});
  }
  for (auto& change : changes) all.push_back(std::move(change));

  typename Store<K>::Indexes indexes;
  for (const auto& [name, index] : store_.indexes_) {
    auto& rebuilt = indexes.emplace(name, typename Store<K>::Index{index.function}).first->second;
    for (const auto& [key, object] : next) rebuilt.update(key, nullptr, object.get());
  }
  const std::unique_lock lock(store_.mutex_);
  store_.objects_.swap(next);
  store_.indexes_.swap(indexes);
  return all;
}

}  // namespace gpupool::runtime
