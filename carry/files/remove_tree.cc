// SPDX-License-Identifier: Apache-2.0
#include "files/remove_tree.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstdint>
#include <memory>
#include <string_view>

#include "base/unique_fd.h"
#include "files/file_error.h"

namespace gpupool::carry {
namespace {

struct CloseDirectory {
  void operator()(DIR* directory) const { ::closedir(directory); }
};
using Directory = std::unique_ptr<DIR, CloseDirectory>;

Outcome<Directory> open_for_reading(int at, const std::string& name) {
  const int fd = ::openat(at, name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (fd < 0) return file_failure("cannot open the directory " + name, errno);
  Directory directory(::fdopendir(fd));
  if (directory) return directory;
  const int code = errno;
  ::close(fd);
  return file_failure("cannot read the directory " + name, code);
}

// Returns null at the end, with errno 0, or with another one after an error.
const char* next_name(DIR* directory) {
  for (;;) {
    errno = 0;
    // NOLINTNEXTLINE(concurrency-mt-unsafe): nobody else reads this stream
    const dirent* const entry = ::readdir(directory);
    if (entry == nullptr) return nullptr;
    const std::string_view name(&entry->d_name[0]);
    if (name != "." && name != "..") return &entry->d_name[0];
  }
}

// Removes files at once and hands each directory to `on_directory`.
template <class OnDirectory>
Outcome<std::int64_t> empty_of_files(DIR* directory, OnDirectory on_directory) {
  std::int64_t seen = 0;
  const int fd = ::dirfd(directory);
  while (const char* const name = next_name(directory)) {
    ++seen;
    if (::unlinkat(fd, name, 0) == 0) continue;
    if (errno != EISDIR && errno != EPERM) return file_failure("cannot remove " + std::string(name), errno);
    if (auto done = on_directory(name); !done) return tl::unexpected(done.error());
  }
  if (errno != 0) return file_failure("cannot read a directory", errno);
  return seen;
}

}  // namespace

// The directories in a directory of `name` are moved up, into `name` itself, under numbers. So no path grows,
// and two open directories are enough.
Outcome<void> remove_tree(int directory, const std::string& name) {
  if (::unlinkat(directory, name.c_str(), 0) == 0 || errno == ENOENT) return {};
  if (errno != EISDIR && errno != EPERM) return file_failure("cannot remove " + name, errno);
  auto top = open_for_reading(directory, name);
  if (!top) return tl::unexpected(top.error());
  const int top_fd = ::dirfd(top->get());
  std::int64_t number = 0;
  const auto move_up = [&](int from, const char* inner) -> Outcome<void> {
    for (;;) {
      const std::string free_name = ".gpupool-remove-" + std::to_string(number++);
      if (::renameat(from, inner, top_fd, free_name.c_str()) == 0) return {};
      if (errno != ENOTEMPTY && errno != EEXIST && errno != ENOTDIR)
        return file_failure("cannot remove " + std::string(inner), errno);
    }
  };
  const auto remove_directory = [&](const char* inner) -> Outcome<void> {
    if (::unlinkat(top_fd, inner, AT_REMOVEDIR) == 0) return {};
    const std::string inner_name(inner);
    auto opened = open_for_reading(top_fd, inner_name);
    if (!opened) return tl::unexpected(opened.error());
    const int inner_fd = ::dirfd(opened->get());
    auto emptied = empty_of_files(opened->get(), [&](const char* each) { return move_up(inner_fd, each); });
    if (!emptied) return tl::unexpected(emptied.error());
    if (::unlinkat(top_fd, inner_name.c_str(), AT_REMOVEDIR) != 0 && errno != ENOTEMPTY && errno != EEXIST)
      return file_failure("cannot remove " + inner_name, errno);
    return {};  // what reading has missed is seen in the next round
  };
  for (;;) {
    auto seen = empty_of_files(top->get(), remove_directory);
    if (!seen) return tl::unexpected(seen.error());
    if (*seen == 0) break;
    ::rewinddir(top->get());
  }
  if (::unlinkat(directory, name.c_str(), AT_REMOVEDIR) != 0)
    return file_failure("cannot remove " + name, errno);
  return {};
}

}  // namespace gpupool::carry
