// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "failure/failure.h"

namespace gpupool::carry::s3 {

// The text views point into the listing.
struct ListedObject {
  std::string_view key;
  std::string_view name;  // below the destination: the key without the prefix and without one slash before it
  std::string_view etag;
  std::int64_t size = 0;
};

// The objects under a prefix, compact: of an object some 24 bytes and its texts. Not thread-safe while it
// grows.
class Listing {
 public:
  static constexpr std::size_t kMostObjects = 1'000'000;

  // prefix: empty, or ending with a slash. All keys begin with it.
  explicit Listing(std::string prefix);

  // kInvalid for a key or ETag with a control character, kTooLarge for too many objects.
  Outcome<void> add(std::string_view key, std::string_view etag, std::int64_t size);
  // Sorts by name; then nothing may be added. kInvalid if a name cannot be a file's path, if two are the
  // same, or if one is a folder of another.
  Outcome<void> finish();

  std::size_t size() const { return entries_.size(); }
  std::int64_t bytes() const { return bytes_; }
  ListedObject at(std::size_t index) const;

  // The finished listing as text, to be kept; and from such a text. kLocal if the text is damaged.
  std::string_view text() const { return text_; }
  static Outcome<Listing> parse(std::string text, std::string prefix);

 private:
  struct Entry {
    std::uint64_t at;  // of the ETag in text_; a tab and the key follow
    std::uint32_t etag;
    std::uint32_t key;
    std::int64_t size;
  };
  std::string_view name_of(const Entry& entry) const;
  std::string_view key_of(const Entry& entry) const;
  Outcome<void> check(std::size_t index) const;
  bool has_name(std::string_view name) const;
  bool parse_line(std::size_t begin, std::size_t end);

  std::string prefix_;
  std::string text_;  // lines "SIZE\tETAG\tKEY\n" after a first one, and at the end a last one
  std::vector<Entry> entries_;
  std::int64_t bytes_ = 0;
};

// What is asked for: empty, or with a slash at its end, so that `a` does not mean `ab` too.
std::string folder_prefix(const std::string& prefix);

}  // namespace gpupool::carry::s3
