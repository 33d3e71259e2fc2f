// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "api/meta/resource_version.h"
#include "base/mutex.h"
#include "runtime/cache/informer.h"

namespace gpupool::runtime {

// An informer's cache that also shows what this program has written and the watch has not brought yet.
// Without it, a reconcile that follows a write would plan on the state before the write. This is the only
// mechanism for "I did this and the cache does not show it yet"; no part of it depends on time.
//
// An answer of the server is kept until one of these happens:
//   event                                              | what get() returns afterwards
//   the watch shows the UID in this or a later version | the object in the cache
//   the watch shows that the UID is gone               | the object in the cache, or null
//   a list was stored                                  | the object in the cache, or null
// After a list every answer is dropped, because the list may come from a server that was restored from a
// backup. An answer that is dropped too early costs one refused write (Conflict or AlreadyExists).
//
// Thread-safe. The handler of on_write() runs on the thread that wrote.
template <class K>
class ReadYourWrites {
 public:
  using Ptr = std::shared_ptr<const K>;

  // Registers handlers with the informer. REQUIRES: constructed before other handlers are registered that
  // read this object, and destroyed after the informer has stopped.
  explicit ReadYourWrites(Informer<K>& informer) : store_(informer.store()) {
    informer.on_change([this](const Change<K>& change) { observe(change); });
    informer.on_list([this] { forget_all(); });
  }
  ReadYourWrites(const ReadYourWrites&) = delete;
  ReadYourWrites& operator=(const ReadYourWrites&) = delete;

  // Called after each answered(), gone() and created(); must not block. REQUIRES: set before the first of
  // them.
  void on_write(std::function<void(const api::ObjectKey&)> handler) { on_write_ = std::move(handler); }

  // Null if there is no such object.
  Ptr get(const api::ObjectKey& key) const {
    auto cached = store_.get(key);
    const base::MutexLock lock(mutex_);
    return newer(std::move(cached), key);
  }
  // In key order.
  std::vector<Ptr> list() const {
    auto all = store_.list();
    merge(all, [](const K&) { return true; });
    return all;
  }
  // In key order, but for created objects that the watch has not brought yet: these come last. The function
  // of the index must not depend on what this program writes, except for created objects.
  std::vector<Ptr> by_index(const std::string& name, const std::string& value) const {
    auto found = store_.by_index(name, value);
    merge(found, [&](const K& object) {
      const auto values = store_.index_values(name, object);
      return std::find(values.begin(), values.end(), value) != values.end();
    });
    return found;
  }

  // The server's answer to a patch, a graceful deletion or a read. An object that the cache does not have
  // stays absent.
  Ptr answered(K object) {
    auto answer = std::make_shared<const K>(std::move(object));
    const auto key = answer->metadata.key();
    {
      const base::MutexLock lock(mutex_);
      const bool is_created = answers_.contains(key) && answers_.at(key).created &&
                              answers_.at(key).object->metadata.uid == answer->metadata.uid;
      const auto cached = store_.get(key);
      const bool is_known = is_created || cached != nullptr;
      if (is_known && (cached == nullptr || version(*cached) < version(*answer)))
        answers_[key] = {answer, is_created};
    }
    on_write_(key);
    return answer;
  }

  // The server said that the object with this UID is gone, or accepted its deletion in the background.
  void gone(const api::ObjectKey& key, const std::string& uid) {
    {
      const base::MutexLock lock(mutex_);
      const auto answer = answers_.find(key);
      const bool was_answered = answer != answers_.end() && answer->second.object->metadata.uid == uid;
      if (was_answered) answers_.erase(answer);
      const auto cached = store_.get(key);
      if (was_answered || (cached != nullptr && cached->metadata.uid == uid)) gone_[key] = uid;
    }
    on_write_(key);
  }

  // The time from before a create request until its answer was handed to created(). The watch may show the
  // object, and even its deletion, before the answer is here.
  class Creation {
   public:
    Creation(ReadYourWrites& cache, api::ObjectKey key) : cache_(cache), key_(std::move(key)) {
      const base::MutexLock lock(cache_.mutex_);
      ++cache_.creations_[key_].running;
    }
    ~Creation() {
      const base::MutexLock lock(cache_.mutex_);
      if (--cache_.creations_.at(key_).running == 0) cache_.creations_.erase(key_);
    }
    Creation(const Creation&) = delete;
    Creation& operator=(const Creation&) = delete;
    // The object as the server answered it, or as it was read since.
    void created(K object) { cache_.created(key_, std::move(object)); }

   private:
    ReadYourWrites& cache_;
    const api::ObjectKey key_;
  };

 private:
  struct Answer {
    Ptr object;
    bool created = false;  // the cache has not shown this UID yet
  };
  struct Creations {
    int running = 0;
    std::set<std::string> deleted = {};  // UIDs that the watch has shown to be gone meanwhile
  };

  static std::uint64_t version(const K& object) {
    return api::version_number(object.metadata.resource_version);
  }

  void created(const api::ObjectKey& key, K object) {
    {
      const base::MutexLock lock(mutex_);
      const auto cached = store_.get(key);
      const bool is_old = cached != nullptr && version(*cached) >= version(object);
      const bool is_deleted = creations_.at(key).deleted.contains(object.metadata.uid);
      if (!is_old && !is_deleted) answers_[key] = {std::make_shared<const K>(std::move(object)), true};
    }
    on_write_(key);
  }

  void observe(const Change<K>& change) {
    const auto key = (change.after ? change.after : change.before)->metadata.key();
    const base::MutexLock lock(mutex_);
    const auto is_gone = [&](const std::string& uid) {
      return change.before && change.before->metadata.uid == uid &&
             (!change.after || change.after->metadata.uid != uid);
    };
    if (const auto found = gone_.find(key); found != gone_.end() && is_gone(found->second))
      gone_.erase(found);
    if (const auto found = answers_.find(key); found != answers_.end()) {
      const auto& object = *found->second.object;
      const bool shown = change.after && version(*change.after) >= version(object);
      if (shown || is_gone(object.metadata.uid)) {
        answers_.erase(found);
      } else if (change.after && change.after->metadata.uid == object.metadata.uid) {
        found->second.created = false;
      }
    }
    if (creations_.empty() || !change.before || !is_gone(change.before->metadata.uid)) return;
    if (const auto creation = creations_.find(key); creation != creations_.end())
      creation->second.deleted.insert(change.before->metadata.uid);
  }

  void forget_all() {
    const base::MutexLock lock(mutex_);
    answers_.clear();
    gone_.clear();
  }

  Ptr newer(Ptr cached, const api::ObjectKey& key) const GPUPOOL_REQUIRES(mutex_) {
    if (answers_.empty() && gone_.empty()) return cached;
    if (cached != nullptr) {
      const auto gone = gone_.find(key);
      if (gone != gone_.end() && gone->second == cached->metadata.uid) cached = nullptr;
    }
    const auto found = answers_.find(key);
    if (found == answers_.end()) return cached;
    // A written object that the cache has lost is gone; the event that says so is about to arrive.
    if (cached == nullptr && !found->second.created) return nullptr;
    if (cached != nullptr && version(*cached) >= version(*found->second.object)) return cached;
    return found->second.object;
  }

  template <class Predicate>
  void merge(std::vector<Ptr>& objects, const Predicate& belongs) const {
    const base::MutexLock lock(mutex_);
    if (answers_.empty() && gone_.empty()) return;
    for (auto& object : objects) {
      const auto key = object->metadata.key();
      object = newer(std::move(object), key);
    }
    std::erase(objects, nullptr);
    for (const auto& [key, answer] : answers_) {
      if (!answer.created || !belongs(*answer.object)) continue;
      const auto same = [&](const Ptr& object) { return object == answer.object; };
      if (std::none_of(objects.begin(), objects.end(), same)) objects.push_back(answer.object);
    }
  }

  const Store<K>& store_;
  std::function<void(const api::ObjectKey&)> on_write_ = [](const api::ObjectKey&) {};
  mutable base::Mutex mutex_;
  std::map<api::ObjectKey, Answer> answers_ GPUPOOL_GUARDED_BY(mutex_);
  std::map<api::ObjectKey, std::string> gone_
      GPUPOOL_GUARDED_BY(mutex_);  // UIDs of objects that the cache may still show
  std::map<api::ObjectKey, Creations> creations_ GPUPOOL_GUARDED_BY(mutex_);
};

}  // namespace gpupool::runtime
