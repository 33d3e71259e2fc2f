// SPDX-License-Identifier: Apache-2.0
#include "files/new_tree.h"

#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <utility>

#include "digest/sha256.h"
#include "files/directories.h"
#include "files/file_error.h"
#include "files/link_target.h"
#include "files/relative_path.h"
#include "files/remove_tree.h"

namespace gpupool::carry {
namespace {

constexpr int kOpenDirectory = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
constexpr std::size_t kMaxWinding = 10'000;

// Opens `path` below `top`, with all its links, as the kernel sees them.
bool leads_inside(int top, const std::string& path) {
  open_how how{};
  how.flags = O_PATH | O_CLOEXEC;
  how.resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS;
  const auto fd = ::syscall(SYS_openat2, top, path.c_str(), &how, sizeof how);
  if (fd < 0) return false;
  ::close(static_cast<int>(fd));
  return true;
}

Outcome<std::string> read_link(int directory, const std::string& name) {
  std::array<char, 4096> target{};
  const auto size = ::readlinkat(directory, name.c_str(), target.data(), target.size());
  if (size < 0) return file_failure("cannot read the link " + name, errno);
  return std::string(target.data(), static_cast<std::size_t>(size));
}

}  // namespace

Outcome<NewTree> NewTree::begin(int root, std::string_view path, SizeBudget& budget) {
  auto parts = split_path(path);
  if (!parts) return tl::unexpected(parts.error());
  auto state = std::make_unique<State>(budget);
  state->name = std::move(parts->back());
  parts->pop_back();
  auto above = make_directories(root, *parts);
  if (!above) return tl::unexpected(above.error());
  state->above = std::move(*above);
  state->part = "." + digest::sha256_hex(state->name + "/tree").substr(0, 32);
  state->part += kPartSuffix;
  const int at = state->above.get();
  if (auto removed = remove_tree(at, state->part); !removed) return tl::unexpected(removed.error());
  auto top = make_directories(at, {state->part});
  if (!top) return tl::unexpected(top.error());
  state->top = std::move(*top);
  return NewTree(std::move(state));
}

NewTree::NewTree(NewTree&&) noexcept = default;

NewTree::~NewTree() {
  if (!state_ || state_->done) return;
  state_->top = base::UniqueFd();
  state_->parent = base::UniqueFd();
  (void)remove_tree(state_->above.get(), state_->part);  // else the next process tries again
  state_->budget->give_back(state_->taken);
}

Outcome<void> NewTree::fits(std::int64_t bytes) const {
  auto taken = state_->budget->take(bytes);
  if (taken) state_->budget->give_back(bytes);
  return taken;
}

Outcome<void> NewTree::count() {
  if (++state_->entries <= kMaxTreeEntries) return {};
  return failed(FailureKind::kTooLarge, "is one of more than 1000000 files, links and directories");
}

// Opens the directory that `path` is in, and returns the name in it.
Outcome<std::string> NewTree::place(std::string_view path) {
  auto parts = split_path(path);
  if (!parts) return tl::unexpected(parts.error());
  if (auto counted = count(); !counted) return tl::unexpected(counted.error());
  std::string name = std::move(parts->back());
  parts->pop_back();
  const auto parent = path.substr(0, path.size() - name.size());
  if (state_->parent.valid() && parent == state_->parent_path) return name;
  base::UniqueFd at(::openat(state_->top.get(), ".", kOpenDirectory));
  if (!at.valid()) return file_failure("cannot open the directory", errno);
  for (const auto& part : *parts) {
    base::UniqueFd next(::openat(at.get(), part.c_str(), kOpenDirectory));
    if (next.valid()) {
      at = std::move(next);
      continue;
    }
    if (errno == ENOENT) {
      if (auto counted = count(); !counted) return tl::unexpected(counted.error());
    }
    auto made = make_directories(at.get(), {part});  // refuses a file or a link
    if (!made) return tl::unexpected(made.error());
    at = std::move(*made);
  }
  state_->parent = std::move(at);
  state_->parent_path = parent;
  return name;
}

// Removes an earlier file or link of this name.
Outcome<void> NewTree::make_room(const std::string& name) {
  const int at = state_->parent.get();
  struct stat old{};
  if (::fstatat(at, name.c_str(), &old, AT_SYMLINK_NOFOLLOW) != 0) {
    if (errno == ENOENT) return {};
    return file_failure("cannot look at " + name, errno);
  }
  if (S_ISDIR(old.st_mode)) return failed(FailureKind::kInvalid, "is a directory, and then something else");
  if (::unlinkat(at, name.c_str(), 0) != 0) return file_failure("cannot remove " + name, errno);
  if (S_ISREG(old.st_mode) && old.st_nlink == 1) {
    state_->budget->give_back(old.st_size);
    state_->taken -= old.st_size;
  }
  return {};
}

Outcome<void> NewTree::add_directory(std::string_view path) {
  auto name = place(path);
  if (!name) return tl::unexpected(name.error());
  const int at = state_->parent.get();
  struct stat old{};
  const bool there = ::fstatat(at, name->c_str(), &old, AT_SYMLINK_NOFOLLOW) == 0;
  if (there && S_ISDIR(old.st_mode)) return {};
  if (auto room = make_room(*name); !room) return room;
  auto made = make_directories(at, {*name});
  if (!made) return tl::unexpected(made.error());
  return {};
}

Outcome<NewFile> NewTree::add_file(std::string_view path) {
  auto name = place(path);
  if (!name) return tl::unexpected(name.error());
  constexpr int kFresh = O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;
  const int at = state_->parent.get();
  base::UniqueFd fd(::openat(at, name->c_str(), kFresh, 0600));
  if (!fd.valid() && errno == EEXIST) {
    if (auto room = make_room(*name); !room) return tl::unexpected(room.error());
    fd.reset(::openat(at, name->c_str(), kFresh, 0600));
  }
  if (!fd.valid()) return file_failure("cannot create " + *name, errno);
  return NewFile(std::move(fd), std::move(*name), *state_->budget, state_->taken);
}

Outcome<void> NewTree::add_link(std::string_view path, const std::string& target) {
  auto name = place(path);
  if (!name) return tl::unexpected(name.error());
  const auto depth = std::count(path.begin(), path.end(), '/');
  auto route = judge_link_target(target, static_cast<int>(depth));
  if (!route) return tl::unexpected(route.error());
  if (*route == LinkRoute::kWinding) {
    if (state_->winding.size() == kMaxWinding)
      return failed(FailureKind::kTooLarge, "is one of more than 10000 links with .. after a name");
    state_->winding.emplace_back(path);
  }
  const int at = state_->parent.get();
  int done = ::symlinkat(target.c_str(), at, name->c_str());
  if (done != 0 && errno == EEXIST) {
    if (auto room = make_room(*name); !room) return room;
    done = ::symlinkat(target.c_str(), at, name->c_str());
  }
  if (done != 0) return file_failure("cannot make the link " + *name, errno);
  return {};
}

Outcome<HardLinked> NewTree::add_hard_link(std::string_view path, std::string_view earlier) {
  auto parts = split_path(earlier);
  if (!parts) return tl::unexpected(parts.error());
  const auto missing = [&] {
    return failed(FailureKind::kInvalid,
                  "is a hard link to " + std::string(earlier) + ", which is no earlier file");
  };
  base::UniqueFd at(::openat(state_->top.get(), ".", kOpenDirectory));
  for (std::size_t i = 0; at.valid() && i + 1 < parts->size(); ++i)
    at = base::UniqueFd(::openat(at.get(), (*parts)[i].c_str(), kOpenDirectory));
  struct stat old{};
  const auto& old_name = parts->back();
  if (!at.valid() || ::fstatat(at.get(), old_name.c_str(), &old, AT_SYMLINK_NOFOLLOW) != 0) return missing();
  if (S_ISLNK(old.st_mode)) {  // its target may mean something else here
    auto target = read_link(at.get(), old_name);
    if (!target) return tl::unexpected(target.error());
    if (auto added = add_link(path, *target); !added) return tl::unexpected(added.error());
    return HardLinked{{}, false, std::move(*target)};
  }
  if (!S_ISREG(old.st_mode)) return missing();
  auto name = place(path);
  if (!name) return tl::unexpected(name.error());
  HardLinked linked{base::UniqueFd(::openat(at.get(), old_name.c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC)),
                    (old.st_mode & S_IXUSR) != 0,
                    {}};
  if (!linked.file.valid()) return file_failure("cannot read " + old_name, errno);
  const int here = state_->parent.get();
  if (path == earlier) return linked;
  int done = ::linkat(at.get(), old_name.c_str(), here, name->c_str(), 0);
  if (done != 0 && errno == EEXIST) {
    if (auto room = make_room(*name); !room) return tl::unexpected(room.error());
    done = ::linkat(at.get(), old_name.c_str(), here, name->c_str(), 0);
  }
  if (done != 0) return file_failure("cannot link " + *name, errno);
  return linked;
}

Outcome<void> NewTree::check_winding() {
  for (const auto& path : state_->winding) {
    if (!leads_inside(state_->top.get(), path))
      return failed(FailureKind::kInvalid,
                    path +
                        " is a symbolic link with .. after a name that does not lead to a file in its own "
                        "tree; write its target without that");
  }
  return {};
}

Outcome<void> NewTree::commit() {
  if (auto checked = check_winding(); !checked) return checked;
  const int at = state_->above.get();
  const char* const part = state_->part.c_str();
  const char* const name = state_->name.c_str();
  struct stat old{};
  const bool there = ::fstatat(at, name, &old, AT_SYMLINK_NOFOLLOW) == 0;
  if (there && !S_ISDIR(old.st_mode))
    return failed(FailureKind::kInvalid, state_->name + " is a file or a link, and a directory is wanted");
  bool exchanged = false;
  if (there) {
    exchanged = ::renameat2(at, part, at, name, RENAME_EXCHANGE) == 0;
    if (!exchanged) {  // this file system cannot
      if (auto removed = remove_tree(at, state_->name); !removed) return removed;
    }
  }
  if (!exchanged && ::renameat(at, part, at, name) != 0)
    return file_failure("cannot finish " + state_->name, errno);
  state_->done = true;
  if (exchanged) return remove_tree(at, state_->part);
  return {};
}

}  // namespace gpupool::carry
