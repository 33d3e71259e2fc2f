// SPDX-License-Identifier: Apache-2.0
#include "kube/item_splitter.h"

#include <array>
#include <utility>

#include "base/json.h"

namespace gpupool::kube {
namespace {

// Depth of the brackets of the list and of its items.
constexpr std::size_t kDepthOfItems = 2;
constexpr std::size_t kMaxAround = std::size_t{1} << 20;

using Bytes = std::array<bool, 256>;

constexpr Bytes bytes(std::string_view wanted) {
  Bytes found{};
  for (const char c : wanted) found[static_cast<unsigned char>(c)] = true;
  return found;
}

// The bytes that the scanner must look at; it skips all others.
constexpr Bytes kOutside = bytes("\"{}[]");
constexpr Bytes kInString = bytes("\"\\");

bool is_space(char c) { return c == ' ' || c == '\n' || c == '\r' || c == '\t'; }

// name: with its quotes.
bool is_name(const std::string& name, const std::string& wanted) {
  if (name.find('\\') != std::string::npos) return base::json::read<std::string>(name) == wanted;
  return name.size() == wanted.size() + 2 && std::string_view(name).substr(1, wanted.size()) == wanted;
}

}  // namespace

base::Result<void> ItemSplitter::feed(std::string_view piece, const OnItem& on_item) {
  while (!piece.empty() && problem_.empty()) {
    if (place_ == Place::kItem) {
      take_item(piece, on_item);
    } else {
      step(piece.front());
      if (place_ != Place::kItem) piece.remove_prefix(1);
    }
  }
  if (problem_.empty()) return {};
  return base::fail(base::ErrorCode::kParse, problem_);
}

base::Result<std::string> ItemSplitter::finish() {
  if (place_ != Place::kEnd) fail("the list is cut short");
  if (!problem_.empty()) return base::fail(base::ErrorCode::kParse, problem_);
  return std::move(around_);
}

// Handles one byte; never the first byte of an item.
void ItemSplitter::step(char c) {
  if (place_ == Place::kAround) return around(c);
  if (is_space(c)) return;
  const bool first = place_ == Place::kFirstItem;
  const bool after = place_ == Place::kAfterItem;
  if (place_ == Place::kStart && c == '{') {
    place_ = Place::kAround;
    return around(c);
  }
  if ((first || place_ == Place::kNextItem) && c == '{') {
    place_ = Place::kItem;
  } else if (after && c == ',') {
    place_ = Place::kNextItem;
  } else if ((first || after) && c == ']') {
    end_items();
  } else {
    fail(place_ == Place::kStart ? "this is no list"
         : place_ == Place::kEnd ? "there is more behind the list"
                                 : "the list's items are no objects with commas between them");
  }
}

void ItemSplitter::around(char c) {
  if (around_.size() == kMaxAround) {
    return fail("what is around the list's items is longer than " + std::to_string(kMaxAround) + " bytes");
  }
  around_ += c;
  if (closers_.size() == 1) {
    if (in_string_) {
      name_ += c;
    } else if (std::exchange(items_next_, items_next_ && is_space(c)) && c == '[') {
      return begin_items();
    } else if (c == '"') {
      name_ = c;
    } else if (c == ':') {
      items_next_ = is_name(name_, member_);
    }
  }
  notice(c);
  if (closers_.empty()) place_ = Place::kEnd;
}

void ItemSplitter::begin_items() {
  if (std::exchange(items_seen_, true)) return fail("the list has items twice");
  closers_ += ']';
  place_ = Place::kFirstItem;
}

void ItemSplitter::end_items() {
  around_ += ']';
  closers_.pop_back();
  place_ = Place::kAround;
}

void ItemSplitter::take_item(std::string_view& piece, const OnItem& on_item) {
  const auto part = piece.substr(0, scan(piece));
  piece.remove_prefix(part.size());
  if (part.size() > max_ - item_.size()) fail("an item is longer than " + std::to_string(max_) + " bytes");
  if (!problem_.empty()) return;
  const bool complete = closers_.size() == kDepthOfItems;
  if (complete) place_ = Place::kAfterItem;
  if (complete && item_.empty()) return on_item(part);
  item_ += part;
  if (!complete) return;
  on_item(item_);
  item_.clear();
}

// Returns how many bytes of the text belong to the current item.
std::size_t ItemSplitter::scan(std::string_view text) {
  const char* at = text.data();
  const char* const end = at + text.size();
  while (at != end) {
    if (!escaped_) {
      const Bytes& wanted = in_string_ ? kInString : kOutside;
      while (at != end && !wanted[static_cast<unsigned char>(*at)]) ++at;
      if (at == end) break;
    }
    notice(*at++);
    if (closers_.size() == kDepthOfItems || !problem_.empty()) break;
  }
  return static_cast<std::size_t>(at - text.data());
}

void ItemSplitter::notice(char c) {
  if (std::exchange(escaped_, false)) return;
  if (c == '"') {
    in_string_ = !in_string_;
  } else if (in_string_) {
    escaped_ = c == '\\';
  } else if (c == '{') {
    closers_ += '}';
  } else if (c == '[') {
    closers_ += ']';
  } else if (c == '}' || c == ']') {
    if (closers_.empty() || closers_.back() != c) return fail("a bracket is closed that is not open");
    closers_.pop_back();
  }
}

void ItemSplitter::fail(std::string problem) {
  if (problem_.empty()) problem_ = std::move(problem);
}

}  // namespace gpupool::kube
