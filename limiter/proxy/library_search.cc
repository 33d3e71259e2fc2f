// SPDX-License-Identifier: Apache-2.0
#include "limiter/proxy/library_search.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <span>
#include <string_view>

#include "limiter/proxy/elf_file.h"
#include "limiter/proxy/loader_cache.h"

namespace gpupool::limiter {

namespace {

constexpr char kLoaderCache[] = "/etc/ld.so.cache";
#if defined(__x86_64__)
constexpr const char* kDefaultFolders[] = {"/lib/x86_64-linux-gnu",
                                           "/usr/lib/x86_64-linux-gnu",
                                           "/lib64",
                                           "/usr/lib64",
                                           "/lib",
                                           "/usr/lib",
                                           kDriverFolder};
#else
constexpr const char* kDefaultFolders[] = {"/lib/aarch64-linux-gnu",
                                           "/usr/lib/aarch64-linux-gnu",
                                           "/lib64",
                                           "/usr/lib64",
                                           "/lib",
                                           "/usr/lib",
                                           kDriverFolder};
#endif

struct Search {
  std::string_view soname;
  PathTaker take;
  void* context;
};

// substr() would throw, for which there is no library.
std::string_view begin_of(std::string_view text, std::size_t size) {
  text.remove_suffix(text.size() - size);
  return text;
}

std::string_view behind(std::string_view text, std::size_t size) {
  text.remove_prefix(size);
  return text;
}

bool join_path(Path& path, std::string_view folder, std::string_view name) {
  if (folder.empty()) {
    folder = ".";  // as the loader understands it
  }
  if (folder.size() + 1 + name.size() >= sizeof path.text) {
    return false;
  }
  std::memcpy(&path.text[0], folder.data(), folder.size());
  path.text[folder.size()] = '/';
  std::memcpy(&path.text[folder.size() + 1], name.data(), name.size());
  path.text[folder.size() + 1 + name.size()] = '\0';
  return true;
}

// Whether `name` is `soname` followed by more of a version: libcuda.so.1 and libcuda.so.550.163.01.
bool is_versioned_name(std::string_view name, std::string_view soname) {
  const std::string_view stem = begin_of(soname, soname.rfind('.') + 1);
  return name.starts_with(stem) && name.size() > stem.size() && name[stem.size()] >= '0' &&
         name[stem.size()] <= '9' && name != soname;
}

bool take_sibling(const Search& search, std::string_view folder) {
  Path path{};
  DIR* const listing = join_path(path, folder, "") ? opendir(&path.text[0]) : nullptr;
  if (listing == nullptr) {
    return false;
  }
  bool taken = false;
  // NOLINTNEXTLINE(concurrency-mt-unsafe): the listing is ours
  for (const dirent* entry = readdir(listing); entry != nullptr && !taken; entry = readdir(listing)) {
    const std::string_view name{static_cast<const char*>(entry->d_name)};
    taken = is_versioned_name(name, search.soname) && join_path(path, folder, name) &&
            inspect_elf(&path.text[0]) == ElfKind::kOther && search.take(&path.text[0], search.context);
  }
  closedir(listing);
  return taken;
}

bool take_file(const Search& search, std::string_view folder, std::string_view name) {
  Path path{};
  if (!join_path(path, folder, name)) {
    return false;
  }
  switch (inspect_elf(&path.text[0])) {
    case ElfKind::kOther:
      return search.take(&path.text[0], search.context);
    case ElfKind::kOurs:
      return take_sibling(search, folder);
    case ElfKind::kUnusable:
      break;
  }
  return false;
}

bool search_variable(const Search& search) {
  const char* const variable =
      getauxval(AT_SECURE) != 0 ? nullptr : std::getenv("LD_LIBRARY_PATH");  // NOLINT(concurrency-mt-unsafe)
  if (variable == nullptr || *variable == '\0') {
    return false;
  }
  std::string_view rest = variable;
  while (true) {
    const std::size_t end = std::min(rest.find_first_of(":;"), rest.size());
    if (take_file(search, begin_of(rest, end), search.soname)) {
      return true;
    }
    if (end == rest.size()) {
      return false;
    }
    rest.remove_prefix(end + 1);
  }
}

bool search_cache(const Search& search) {
  const int file = open(&kLoaderCache[0], O_RDONLY | O_CLOEXEC);
  if (file < 0) {
    return false;
  }
  const off_t size = lseek(file, 0, SEEK_END);
  void* const content =
      size > 0 ? mmap(nullptr, static_cast<std::size_t>(size), PROT_READ, MAP_PRIVATE, file, 0) : MAP_FAILED;
  close(file);
  if (content == MAP_FAILED) {
    return false;
  }
  const std::span<const char> bytes{static_cast<const char*>(content), static_cast<std::size_t>(size)};
  bool taken = false;
  for (std::size_t nth = 0; !taken; ++nth) {
    const char* const found = find_in_loader_cache(bytes, search.soname, nth);
    if (found == nullptr) {
      break;
    }
    const std::string_view path = found;
    const std::size_t slash = path.rfind('/');
    if (slash != std::string_view::npos) {
      taken = take_file(search, begin_of(path, slash), behind(path, slash + 1));
    }
  }
  munmap(content, bytes.size());
  return taken;
}

}  // namespace

bool search_library(const char* soname, PathTaker take, void* context) {
  const Search search{soname, take, context};
  if (search_variable(search) || search_cache(search)) {
    return true;
  }
  for (const char* folder : kDefaultFolders) {
    if (take_file(search, folder, search.soname)) {
      return true;
    }
  }
  return false;
}

}  // namespace gpupool::limiter
