// SPDX-License-Identifier: Apache-2.0
#include "transfer/url.h"

#include <curl/curl.h>

#include <algorithm>
#include <memory>
#include <new>

namespace gpupool::carry {
namespace {

struct HandleCleanup {
  void operator()(CURLU* handle) const { curl_url_cleanup(handle); }
};
using Handle = std::unique_ptr<CURLU, HandleCleanup>;

tl::unexpected<Failure> bad_url(const std::string& why) {
  return failed(FailureKind::kInvalid, "the URL " + why);
}

// Empty if the URL has no such part.
std::string part_of(CURLU* handle, CURLUPart part, unsigned flags = 0) {
  char* text = nullptr;
  if (curl_url_get(handle, part, &text, flags) != CURLUE_OK) return {};
  std::string copy(text);
  curl_free(text);
  return copy;
}

Outcome<Handle> handle_of(const std::string& text, const Url* base) {
  Handle handle(curl_url());
  if (!handle) throw std::bad_alloc();
  // Other schemes are read too, for a better message. Spaces in a Location are common.
  const unsigned flags =
      CURLU_PATH_AS_IS | CURLU_NON_SUPPORT_SCHEME | (base != nullptr ? CURLU_URLENCODE : 0U);
  if (base != nullptr) curl_url_set(handle.get(), CURLUPART_URL, base->text.c_str(), flags);
  if (text.find('\0') != std::string::npos) return bad_url("has a control character");
  const CURLUcode code = curl_url_set(handle.get(), CURLUPART_URL, text.c_str(), flags);
  if (code != CURLUE_OK) return bad_url(std::string("is not valid: ") + curl_url_strerror(code));
  return handle;
}

Outcome<Url> read(CURLU* handle) {
  Url url;
  url.scheme = part_of(handle, CURLUPART_SCHEME);
  if (url.scheme != "http" && url.scheme != "https")
    return bad_url("begins with neither http:// nor https://");
  char* user = nullptr;  // an empty one is one too
  const bool has_user = curl_url_get(handle, CURLUPART_USER, &user, 0) == CURLUE_OK;
  curl_free(user);
  if (has_user || !part_of(handle, CURLUPART_PASSWORD).empty())
    return bad_url("has a user or a password in it: put them into a Secret, and name it in `secret`");
  std::string host = part_of(handle, CURLUPART_HOST);
  if (host.empty()) return bad_url("has no host");
  std::transform(host.begin(), host.end(), host.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
  curl_url_set(handle, CURLUPART_FRAGMENT, nullptr, 0);
  url.text = part_of(handle, CURLUPART_URL, CURLU_NO_DEFAULT_PORT);
  url.origin = url.scheme + "://" + host + ":" + part_of(handle, CURLUPART_PORT, CURLU_DEFAULT_PORT);
  curl_url_set(handle, CURLUPART_QUERY, nullptr, 0);
  url.shown = part_of(handle, CURLUPART_URL, CURLU_NO_DEFAULT_PORT);
  return url;
}

bool is_unreserved(char c) {
  return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '.' ||
         c == '_' || c == '~';
}

}  // namespace

Outcome<Url> parse_url(const std::string& text) {
  auto handle = handle_of(text, nullptr);
  if (!handle) return tl::unexpected(handle.error());
  return read(handle->get());
}

Outcome<Url> resolve_url(const Url& base, const std::string& location) {
  auto handle = handle_of(location, &base);
  if (!handle) return tl::unexpected(handle.error());
  return read(handle->get());
}

std::string percent_encoded(std::string_view text, bool keep_slash) {
  constexpr std::string_view kDigits = "0123456789ABCDEF";
  std::string encoded;
  encoded.reserve(text.size() + text.size() / 4);
  for (const char c : text) {
    if (is_unreserved(c) || (keep_slash && c == '/')) {
      encoded += c;
      continue;
    }
    const auto byte = static_cast<unsigned char>(c);
    encoded += '%';
    encoded += kDigits[byte >> 4U];
    encoded += kDigits[byte & 15U];
  }
  return encoded;
}

}  // namespace gpupool::carry
