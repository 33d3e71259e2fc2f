// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <utility>

#include "base/result.h"

namespace gpupool::kube {

// Splits a Kubernetes list into its objects while the text arrives, so that the whole text is never in
// memory. Checks brackets, strings and what is between two items; the inside of an item is checked by whoever
// decodes it. Not thread-safe.
class ItemSplitter {
 public:
  using OnItem = std::function<void(std::string_view)>;

  // The API server itself accepts objects up to 3 MiB. member: the list's array of objects; a Table has
  // "rows".
  explicit ItemSplitter(std::size_t max_item_bytes = std::size_t{64} << 20, std::string member = "items")
      : max_(max_item_bytes), member_(std::move(member)) {}

  // Calls on_item with each complete object; the text is valid during the call. An incomplete item is kept
  // until the rest arrives. kParse, now and in every later call, if the text is no list.
  base::Result<void> feed(std::string_view piece, const OnItem& on_item);

  // Call after the last piece. Returns the list without its items, as JSON; its content is not checked.
  // kParse if the end is missing.
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
  std::string member_;
  Place place_ = Place::kStart;
  std::string closers_;  // the closing brackets that are still expected
  bool in_string_ = false;
  bool escaped_ = false;
  bool items_next_ = false;  // the next value is the list's array of objects
  bool items_seen_ = false;
  std::string name_;    // the last string in the list itself, with its escapes
  std::string around_;  // the list without its items
  std::string item_;    // the beginning of an incomplete item
  std::string problem_;
};

}  // namespace gpupool::kube
