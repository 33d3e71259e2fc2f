// SPDX-License-Identifier: Apache-2.0
#include "s3/listing_page.h"

#include <charconv>
#include <optional>
#include <utility>
#include <vector>

#include "s3/xml.h"
#include "transfer/refusal.h"

namespace gpupool::carry::s3 {
namespace {

struct PageObject {
  std::string key;
  std::string etag;
  std::string size;
};

struct Page {
  std::vector<PageObject> objects;
  std::string encoding;
  std::string truncated;
  std::string next;
  bool whole = false;  // the root element was there

  void take(std::string_view path, std::string_view text);

 private:
  PageObject object_;
};

void Page::take(std::string_view path, std::string_view text) {
  constexpr std::string_view kRoot = "ListBucketResult";
  if (path == kRoot) whole = true;
  if (!path.starts_with(kRoot) || path.size() <= kRoot.size()) return;
  path.remove_prefix(kRoot.size() + 1);
  if (path == "Contents") {
    objects.push_back(std::exchange(object_, {}));
  } else if (path == "Contents/Key") {
    object_.key = text;
  } else if (path == "Contents/ETag") {
    object_.etag = text;
  } else if (path == "Contents/Size") {
    object_.size = text;
  } else if (path == "EncodingType") {
    encoding = text;
  } else if (path == "IsTruncated") {
    truncated = text;
  } else if (path == "NextContinuationToken") {
    next = text;
  }
}

int digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  return -1;
}

// As a query of a form: '+' is a space.
std::optional<std::string> url_decoded(std::string_view text) {
  std::string plain;
  plain.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      plain += text[i] == '+' ? ' ' : text[i];
      continue;
    }
    if (i + 2 >= text.size() || digit(text[i + 1]) < 0 || digit(text[i + 2]) < 0) return std::nullopt;
    plain += static_cast<char>(digit(text[i + 1]) * 16 + digit(text[i + 2]));
    i += 2;
  }
  return plain;
}

tl::unexpected<Failure> bad_page(const std::string& why) {
  return failed(FailureKind::kInvalid, "the server's list of objects " + why);
}

Outcome<void> add_object(const PageObject& object, bool encoded, const std::string& prefix,
                         Listing& listing) {
  const auto key = encoded ? url_decoded(object.key) : object.key;
  if (!key || key->empty()) return bad_page("has a key that cannot be read");
  if (!key->starts_with(prefix))
    return bad_page("has the key " + for_message(*key) + ", which was not asked for");
  if (key->ends_with('/')) return {};
  std::int64_t size = -1;
  const char* const end = object.size.data() + object.size.size();
  const auto read = std::from_chars(object.size.data(), end, size);
  if (read.ec != std::errc() || read.ptr != end || size < 0)
    return bad_page("has no size of " + for_message(*key));
  return listing.add(*key, object.etag, size);
}

}  // namespace

Outcome<std::string> read_page(std::string_view document, const std::string& prefix, Listing& listing) {
  Page page;
  const bool good =
      read_xml(document, [&](std::string_view path, std::string_view text) { page.take(path, text); });
  if (!good || !page.whole) return bad_page("cannot be read: does the endpoint speak S3?");
  for (const PageObject& object : page.objects)
    if (auto added = add_object(object, page.encoding == "url", prefix, listing); !added)
      return tl::unexpected(added.error());
  if (page.truncated != "true") return std::string();
  if (page.next.empty()) return bad_page("is cut, and does not say how it goes on");
  return page.next;
}

}  // namespace gpupool::carry::s3
