// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "runtime/cache/informer.h"

namespace gpupool::runtime {

template <class K>
base::Result<void> Informer<K>::item(std::string_view text) {
  auto object = base::json::read<K>(text);
  if (!object) {
    keep_known(text);
    return tl::unexpected<base::Error>(object.error());
  }
  // Most objects of a repeated list are unchanged. The stored ones are used again, so that none is in memory
  // twice.
  auto known = store_.get(object->metadata.key());
  const bool same = known && same_version(*known, *object);
  collected_.push_back(same ? std::move(known) : std::make_shared<const K>(std::move(*object)));
  return {};
}

// An object that cannot be decoded is not deleted: its last readable state is kept.
template <class K>
void Informer<K>::keep_known(std::string_view broken) {
  const auto named = base::json::read<Named>(broken);
  if (!named) return;
  auto known = store_.get(named->metadata.key());
  if (known && known->metadata.uid == named->metadata.uid) collected_.push_back(std::move(known));
}

template <class K>
void Informer<K>::commit() {
  auto changes = writer_.replace(std::exchange(collected_, {}));
  for (const auto& handler : on_list_) handler();
  for (auto& change : changes) {
    change.initial = !committed_;
    tell(change);
  }
  committed_ = true;
}

template <class K>
base::Result<std::string> Informer<K>::event(std::string_view type, std::string_view line) {
  if (type == "DELETED") {
    // Only the name is decoded, so that an object that cannot be decoded can be deleted.
    auto deleted = base::json::read<WatchEvent<Named>>(line);
    if (!deleted) return tl::unexpected<base::Error>(deleted.error());
    remove(deleted->object.metadata.key());
    return std::move(deleted->object.metadata.resource_version);
  }
  auto changed = base::json::read<WatchEvent<K>>(line);
  if (!changed) return tl::unexpected<base::Error>(changed.error());
  auto version = changed->object.metadata.resource_version;
  apply(std::move(changed->object));
  return version;
}

template <class K>
void Informer<K>::tell(const Change<K>& change) const {
  if (!change.before && !change.after) return;
  for (const auto& handler : handlers_) handler(change);
}

}  // namespace gpupool::runtime
