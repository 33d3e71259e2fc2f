// SPDX-License-Identifier: Apache-2.0
#include "s3/listing.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include "files/relative_path.h"
#include "transfer/refusal.h"

namespace gpupool::carry::s3 {
namespace {

constexpr std::string_view kFirstLine = "gpupool-listing 1\n";
constexpr std::string_view kLastLine = "end\n";

bool has_control(std::string_view text) {
  return std::any_of(text.begin(), text.end(),
                     [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; });
}

tl::unexpected<Failure> bad_key(std::string_view key, const std::string& why) {
  return failed(FailureKind::kInvalid, "the object " + for_message(key) + " cannot be a file: " + why);
}

}  // namespace

std::string folder_prefix(const std::string& prefix) {
  return prefix.empty() || prefix.ends_with('/') ? prefix : prefix + "/";
}

Listing::Listing(std::string prefix) : prefix_(std::move(prefix)), text_(kFirstLine) {}

Outcome<void> Listing::add(std::string_view key, std::string_view etag, std::int64_t size) {
  if (entries_.size() == kMostObjects)
    return failed(FailureKind::kTooLarge,
                  "there are more than 1000000 objects under " + for_message(prefix_));
  if (has_control(key)) return bad_key(key, "its key has a control character");
  if (has_control(etag)) return bad_key(key, "its ETag has a control character");
  text_ += std::to_string(size) + "\t";
  entries_.push_back(
      {text_.size(), static_cast<std::uint32_t>(etag.size()), static_cast<std::uint32_t>(key.size()), size});
  text_ += etag;
  text_ += '\t';
  text_ += key;
  text_ += '\n';
  bytes_ += size;
  return {};
}

Outcome<void> Listing::finish() {
  text_ += kLastLine;
  entries_.shrink_to_fit();  // text_ is left as it is: the copy would take more than its unused end
  std::sort(entries_.begin(), entries_.end(),
            [this](const Entry& one, const Entry& other) { return name_of(one) < name_of(other); });
  for (std::size_t i = 0; i < entries_.size(); ++i)
    if (auto good = check(i); !good) return good;
  return {};
}

Outcome<void> Listing::check(std::size_t index) const {
  const Entry& entry = entries_[index];
  const std::string_view name = name_of(entry);
  const std::string_view key = key_of(entry);
  if (auto parts = split_path(name); !parts) return bad_key(key, parts.error().message);
  if (index > 0 && name_of(entries_[index - 1]) == name)
    return bad_key(key, "another object has the same path");
  for (std::size_t slash = name.find('/'); slash != std::string_view::npos; slash = name.find('/', slash + 1))
    if (has_name(name.substr(0, slash)))
      return bad_key(key, "another object is the file " + std::string(name.substr(0, slash)));
  return {};
}

bool Listing::has_name(std::string_view name) const {
  const auto found =
      std::lower_bound(entries_.begin(), entries_.end(), name,
                       [this](const Entry& one, std::string_view other) { return name_of(one) < other; });
  return found != entries_.end() && name_of(*found) == name;
}

std::string_view Listing::key_of(const Entry& entry) const {
  return std::string_view(text_).substr(entry.at + entry.etag + 1, entry.key);
}

std::string_view Listing::name_of(const Entry& entry) const {
  std::string_view name = key_of(entry);
  name.remove_prefix(std::min(prefix_.size(), name.size()));
  if (name.starts_with('/')) name.remove_prefix(1);
  return name;
}

ListedObject Listing::at(std::size_t index) const {
  const Entry& entry = entries_[index];
  return {key_of(entry), name_of(entry), std::string_view(text_).substr(entry.at, entry.etag), entry.size};
}

Outcome<Listing> Listing::parse(std::string text, std::string prefix) {
  const auto damaged = [] {
    return failed(FailureKind::kLocal, "the stored listing of the objects is damaged");
  };
  Listing listing(std::move(prefix));
  if (!text.starts_with(kFirstLine) || !text.ends_with("\n" + std::string(kLastLine))) return damaged();
  text.resize(text.size() - kLastLine.size());
  listing.text_ = std::move(text);
  for (std::size_t begin = kFirstLine.size(); begin < listing.text_.size();) {
    const std::size_t end = listing.text_.find('\n', begin);  // the last line ends with one
    if (!listing.parse_line(begin, end)) return damaged();
    begin = end + 1;
  }
  if (auto finished = listing.finish(); !finished) return tl::unexpected(finished.error());
  return listing;
}

bool Listing::parse_line(std::size_t begin, std::size_t end) {
  const std::size_t etag = text_.find('\t', begin) + 1;
  const std::size_t key = text_.find('\t', etag) + 1;
  if (etag <= begin || key <= etag || key >= end) return false;
  std::int64_t size = -1;
  const auto read = std::from_chars(text_.data() + begin, text_.data() + etag - 1, size);
  if (read.ec != std::errc() || read.ptr != text_.data() + etag - 1 || size < 0) return false;
  entries_.push_back(
      {etag, static_cast<std::uint32_t>(key - 1 - etag), static_cast<std::uint32_t>(end - key), size});
  bytes_ += size;
  return true;
}

}  // namespace gpupool::carry::s3
