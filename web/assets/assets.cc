// SPDX-License-Identifier: Apache-2.0
#include "assets/assets.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <vector>

// The symbols of blobs.S.
// NOLINTNEXTLINE(bugprone-macro-parentheses): a declared name
#define GPUPOOL_ASSET(path, symbol) extern "C" const char symbol[], symbol##_end[];
#include "page_files.inc"
#undef GPUPOOL_ASSET

namespace gpupool::web {
namespace {

constexpr std::string_view type_of(std::string_view path) {
  if (path.ends_with(".html")) return "text/html; charset=utf-8";
  if (path.ends_with(".js")) return "text/javascript; charset=utf-8";
  if (path.ends_with(".css")) return "text/css; charset=utf-8";
  return "image/svg+xml";
}

// The last 8 bytes of a gzip file are CRC and length of the content (RFC 1952).
std::string etag_of(std::string_view gzip) {
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string etag = "\"";
  for (const char c : gzip.substr(gzip.size() - std::min<std::size_t>(gzip.size(), 8))) {
    const auto byte = static_cast<unsigned char>(c);
    etag += kDigits[byte >> 4U];
    etag += kDigits[byte & 15U];
  }
  return etag + "\"";
}

Asset make_asset(std::string_view path, const char* begin, const char* end) {
  const std::string_view gzip(begin, static_cast<std::size_t>(end - begin));
  return {path, gzip, type_of(path), etag_of(gzip)};
}

const std::vector<Asset>& all_assets() {
  static const std::vector<Asset> all = {
#define GPUPOOL_ASSET(path, symbol) make_asset(path, symbol, symbol##_end),
#include "page_files.inc"
#undef GPUPOOL_ASSET
  };
  return all;
}

}  // namespace

const Asset* find_asset(std::string_view path) {
  const std::string_view wanted = path == "/" ? "/index.html" : path;
  const auto found = std::ranges::find(all_assets(), wanted, &Asset::path);
  return found == all_assets().end() ? nullptr : &*found;
}

}  // namespace gpupool::web
