// SPDX-License-Identifier: Apache-2.0
#include "limiter/proxy/loader_cache.h"

#include <cstdint>
#include <cstring>

namespace gpupool::limiter {

namespace {

// The format since glibc 2.2, as ldconfig writes it; an older one may lie before it.
constexpr std::string_view kMagic = "glibc-ld.so.cache1.1";

struct CacheHeader {
  char magic[20];
  std::uint32_t entries;
  std::uint32_t string_bytes;
  std::uint32_t unused[5];
};

struct CacheEntry {
  std::int32_t flags;
  std::uint32_t name;  // both from the begin of the header
  std::uint32_t path;
  std::uint32_t os_version;
  std::uint64_t hardware;
};

#if defined(__x86_64__)
constexpr std::int32_t kFlags = 0x0303;
#else
constexpr std::int32_t kFlags = 0x0a03;
#endif

// The string at an offset; empty if it does not end within the content.
std::string_view string_at(std::span<const char> content, std::uint32_t offset) {
  if (offset >= content.size()) {
    return {};
  }
  const std::span<const char> rest = content.subspan(offset);
  const void* const end = std::memchr(rest.data(), '\0', rest.size());
  return end == nullptr
             ? std::string_view{}
             : std::string_view{rest.data(),
                                static_cast<std::size_t>(static_cast<const char*>(end) - rest.data())};
}

}  // namespace

const char* find_in_loader_cache(std::span<const char> content, std::string_view soname, std::size_t nth) {
  const std::size_t begin = std::string_view{content.data(), content.size()}.find(kMagic);
  if (begin == std::string_view::npos || content.size() - begin < sizeof(CacheHeader)) {
    return nullptr;
  }
  content = content.subspan(begin);
  CacheHeader header{};
  std::memcpy(&header, content.data(), sizeof header);
  for (std::uint32_t number = 0; number < header.entries; ++number) {
    const std::size_t at = sizeof header + number * sizeof(CacheEntry);
    if (content.size() - at < sizeof(CacheEntry)) {
      return nullptr;
    }
    CacheEntry entry{};
    std::memcpy(&entry, &content[at], sizeof entry);
    if (entry.flags != kFlags || string_at(content, entry.name) != soname) {
      continue;
    }
    const std::string_view path = string_at(content, entry.path);
    if (!path.empty() && nth-- == 0) {
      return path.data();
    }
  }
  return nullptr;
}

}  // namespace gpupool::limiter
