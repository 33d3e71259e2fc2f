#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace gpupool::kube {

// Finds the objects of a Kubernetes list while its text still arrives, so that all of it is never there at
// once. Checked are brackets, strings and what stands between two items; an item's inside is its reader's.
// Not thread-safe.
class ItemSplitter {
 public:
  using OnItem = std::function<void(std::string_view)>;

  // The API server itself takes no object over 3 MiB.
  explicit ItemSplitter(std::size_t max_item_bytes = std::size_t{64} << 20) : max_(max_item_bytes) {}

  // Calls on_item with each object that is complete; the text lives as long as the call. An item cut by the
  // end of a piece is kept until the rest of it comes. kParse if this is no list, for good.
  base::Result<void> feed(std::string_view piece, const OnItem& on_item);

  // After the last piece: the list without its items, as JSON whose rest is not checked. kParse if the end is
  // missing.
  base::Result<std::string> finish();

 private:
  enum class Place { kStart, kAround, kFirstItem, kNextItem, kItem, kAfterItem, kEnd };

  void step(char c);
  void around(char c);
  void begin_items();
  void end_items();
  void take_item(std::string_view& piece, const OnItem& on_item);
  std::size_t scan(std::string_view text);
  void notice(char c);
  void fail(std::string problem);

  std::size_t max_;
  Place place_ = Place::kStart;
  std::string closers_;  // the brackets that are still open, as what closes them
  bool in_string_ = false;
  bool escaped_ = false;
  bool items_next_ = false;  // what comes is the value of the list's own "items"
  bool items_seen_ = false;
  std::string name_;    // the last string in the list itself, as it is written
  std::string around_;  // the list without its items
  std::string item_;    // the beginning of one whose end has not come yet
  std::string problem_;
};

}  // namespace gpupool::kube
