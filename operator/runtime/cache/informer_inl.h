#pragma once

#include <iterator>

#include "runtime/cache/informer.h"

namespace gpupool::runtime {

template <class K>
base::Result<ReflectorSink::Page> Informer<K>::page(std::string_view body, bool first) {
  if (first) collected_.clear();
  auto list = base::json::read<api::List<K>>(body);
  if (!list) return page_by_items(body);
  collected_.insert(collected_.end(), std::make_move_iterator(list->items.begin()),
                    std::make_move_iterator(list->items.end()));
  return Page{list->metadata.resource_version, list->metadata.continue_token};
}

template <class K>
base::Result<ReflectorSink::Page> Informer<K>::page_by_items(std::string_view body) {
  auto list = base::json::read<RawList>(body);
  if (!list) return tl::unexpected<base::Error>(list.error());
  Page page{list->metadata.resource_version, list->metadata.continue_token};
  for (const auto& item : list->items) {
    auto object = base::json::read<K>(item.text);
    if (object) {
      collected_.push_back(std::move(*object));
    } else {
      page.broken.push_back(object.error());
      keep_known(item);
    }
  }
  return page;
}

// An object that cannot be read is not one that was deleted: its last readable state stays.
template <class K>
void Informer<K>::keep_known(const base::json::RawJson& broken) {
  const auto named = base::json::read<Named>(broken.text);
  if (!named) return;
  const auto known = store_.get(named->metadata.key());
  if (known && known->metadata.uid == named->metadata.uid) collected_.push_back(*known);
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
    // Its name is enough, so that even an object that does not decode can go.
    auto deleted = base::json::read<WatchEvent<Named>>(line);
    if (!deleted) return tl::unexpected<base::Error>(deleted.error());
    tell(writer_.remove(deleted->object.metadata.key()));
    return std::move(deleted->object.metadata.resource_version);
  }
  auto changed = base::json::read<WatchEvent<K>>(line);
  if (!changed) return tl::unexpected<base::Error>(changed.error());
  auto version = changed->object.metadata.resource_version;
  tell(writer_.apply(std::move(changed->object)));
  return version;
}

template <class K>
void Informer<K>::tell(const Change<K>& change) const {
  if (!change.before && !change.after) return;
  for (const auto& handler : handlers_) handler(change);
}

}  // namespace gpupool::runtime
