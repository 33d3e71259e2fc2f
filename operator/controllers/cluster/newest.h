#pragma once

#include <charconv>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "runtime/cache/store.h"

namespace gpupool::controllers {

// A cache that has read our own writes: of an object, the newer of what the watch has brought and what the
// server answered to our last write. Without it every reconcile that follows a write would plan on the past.
// Thread-safe.
template <class K>
class Newest {
 public:
  using Ptr = std::shared_ptr<const K>;

  explicit Newest(const runtime::Store<K>& store) : store_(store) {}

  // Called after each remember() and forget(), by its thread; must not block. Set it before the first.
  void on_write(std::function<void(const api::ObjectKey&)> handler) { on_write_ = std::move(handler); }

  // Null if there is none: only objects that were in the cache before are written, so its word on absence is
  // final.
  Ptr get(const api::ObjectKey& key) const {
    auto cached = store_.get(key);
    const std::lock_guard lock(mutex_);
    return newer(std::move(cached), key);
  }

  std::vector<Ptr> list() const {
    auto all = store_.list();
    const std::lock_guard lock(mutex_);
    if (written_.empty() && gone_.empty()) return all;
    for (auto& object : all) object = newer(object, object->metadata.key());
    std::erase(all, nullptr);
    return all;
  }

  // The server said that the object with this UID is gone, which the watch has yet to tell.
  void forget(const api::ObjectKey& key, const std::string& uid) {
    {
      const std::lock_guard lock(mutex_);
      gone_[key.to_string()] = uid;
    }
    on_write_(key);
  }

  // After a list: it may come from a server that was taken back to before those writes. Forgetting too much
  // costs a conflict.
  void forget_all() {
    const std::lock_guard lock(mutex_);
    written_.clear();
    gone_.clear();
  }

  Ptr remember(K object) {
    auto written = std::make_shared<const K>(std::move(object));
    {
      const std::lock_guard lock(mutex_);
      written_[written->metadata.key().to_string()] = written;
    }
    on_write_(written->metadata.key());
    return written;
  }

 private:
  static std::uint64_t version(const K& object) {
    const auto& text = object.metadata.resource_version;
    std::uint64_t value = 0;
    std::from_chars(text.data(), text.data() + text.size(), value);
    return value;
  }

  // Resource versions of one kind are ordered integers (KEP-5504).
  Ptr newer(Ptr cached, const api::ObjectKey& key) const {
    if (const auto gone = gone_.find(key.to_string()); gone != gone_.end()) {
      if (cached != nullptr && cached->metadata.uid == gone->second) return nullptr;
      gone_.erase(gone);
    }
    const auto found = written_.find(key.to_string());
    if (found == written_.end()) return cached;
    if (cached == nullptr || version(*cached) >= version(*found->second)) {
      written_.erase(found);
      return cached;
    }
    return found->second;
  }

  const runtime::Store<K>& store_;
  std::function<void(const api::ObjectKey&)> on_write_ = [](const api::ObjectKey&) {};
  mutable std::mutex mutex_;
  mutable std::unordered_map<std::string, Ptr> written_;
  mutable std::unordered_map<std::string, std::string> gone_;  // UIDs
};

}  // namespace gpupool::controllers
