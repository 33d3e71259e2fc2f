// SPDX-License-Identifier: Apache-2.0
#include "git/checkout.h"

#include <git2.h>

#include <algorithm>
#include <memory>
#include <utility>

#include "files/relative_path.h"
#include "git/git_error.h"
#include "git/pack_store.h"

namespace gpupool::carry {
namespace {

struct FreeGit {
  void operator()(git_object* object) const { git_object_free(object); }
  void operator()(git_tree* tree) const { git_tree_free(tree); }
  void operator()(git_tree_entry* entry) const { git_tree_entry_free(entry); }
  void operator()(git_odb* odb) const { git_odb_free(odb); }
  void operator()(git_odb_object* object) const { git_odb_object_free(object); }
};
template <class T>
using Owned = std::unique_ptr<T, FreeGit>;

constexpr std::size_t kPiece = std::size_t{1} << 20U;
constexpr std::string_view kLfs = "version https://git-lfs.github.com/spec/";
constexpr std::size_t kMaxLfsPointer = 1024;

bool is_git_directory(std::string_view name) {
  constexpr std::string_view kName = ".git";
  return name.size() == kName.size() &&
         std::equal(name.begin(), name.end(), kName.begin(),
                    [](char a, char b) { return (a >= 'A' && a <= 'Z' ? a - 'A' + 'a' : a) == b; });
}

std::string hex(const git_oid* id) {
  std::string text(GIT_OID_HEXSZ, '0');
  git_oid_fmt(text.data(), id);
  return text;
}

// A missing object, or one that is not what its name says: the pack is not whole.
tl::unexpected<Failure> unreadable(const git_oid* id) {
  return git_failure(FailureKind::kUnavailable, "the pack of the git repository lacks object " + hex(id));
}

class Checkout {
 public:
  Checkout(git_repository* objects, git_odb* odb, NewTree& tree, std::stop_token stop)
      : objects_(objects), odb_(odb), tree_(tree), stop_(std::move(stop)) {}

  // path: of the directory, with a slash at its end, or empty. The longest path bounds the depth.
  Outcome<void> directory(const git_oid* id, const std::string& path) {
    git_tree* raw = nullptr;
    if (git_tree_lookup(&raw, objects_, id) != 0) return unreadable(id);
    const Owned<git_tree> tree(raw);
    const auto count = git_tree_entrycount(raw);
    for (std::size_t i = 0; i < count; ++i) {
      if (stop_.stop_requested()) return failed(FailureKind::kStopped, "stopped while checking out");
      const git_tree_entry* const each = git_tree_entry_byindex(raw, i);
      at_ = path + git_tree_entry_name(each);
      if (auto done = entry(each, std::string(at_)); !done) return done;
    }
    return {};
  }

  CheckedOut& result() { return result_; }
  const std::string& at() const { return at_; }  // the path of what failed

 private:
  Outcome<void> entry(const git_tree_entry* each, const std::string& path) {
    const std::string_view name(git_tree_entry_name(each));
    if (is_git_directory(name)) return failed(FailureKind::kInvalid, "no path may have the part .git");
    if (name.find('/') != std::string_view::npos) return failed(FailureKind::kInvalid, "a name has a slash");
    const git_oid* const id = git_tree_entry_id(each);
    switch (git_tree_entry_filemode(each)) {
      case GIT_FILEMODE_TREE:
        if (auto added = tree_.add_directory(path); !added) return added;
        return directory(id, path + "/");
      case GIT_FILEMODE_BLOB:
      case GIT_FILEMODE_BLOB_EXECUTABLE:
        return file(id, path, git_tree_entry_filemode(each) == GIT_FILEMODE_BLOB_EXECUTABLE);
      case GIT_FILEMODE_LINK:
        return link(id, path);
      case GIT_FILEMODE_COMMIT:
        // Like git, an empty directory stands in its place.
        if (result_.submodules++ == 0) result_.first_submodule = path;
        return tree_.add_directory(path);
      default:
        return failed(FailureKind::kInvalid, "it has an unknown mode");
    }
  }

  Outcome<std::int64_t> size_of(const git_oid* id) {
    std::size_t size = 0;
    git_object_t type = GIT_OBJECT_INVALID;
    if (git_odb_read_header(&size, &type, odb_, id) != 0) return unreadable(id);
    if (type != GIT_OBJECT_BLOB) return failed(FailureKind::kInvalid, "it is no file in the repository");
    if (size > static_cast<std::size_t>(kMaxGitObject))
      return failed(FailureKind::kTooLarge, "it has more than 2147483648 bytes");
    return static_cast<std::int64_t>(size);
  }

  Outcome<Owned<git_odb_object>> read(const git_oid* id) {
    git_odb_object* raw = nullptr;
    if (git_odb_read(&raw, odb_, id) != 0) return unreadable(id);
    return Owned<git_odb_object>(raw);
  }

  Outcome<void> file(const git_oid* id, const std::string& path, bool program) {
    auto size = size_of(id);
    if (!size) return tl::unexpected(size.error());
    auto file = tree_.add_file(path);
    if (!file) return tl::unexpected(file.error());
    if (auto fits = tree_.fits(*size); !fits) return fits;
    auto object = read(id);
    if (!object) return tl::unexpected(object.error());
    const std::string_view bytes(static_cast<const char*>(git_odb_object_data(object->get())),
                                 git_odb_object_size(object->get()));
    for (std::size_t begin = 0; begin < bytes.size(); begin += kPiece) {
      if (stop_.stop_requested()) return failed(FailureKind::kStopped, "stopped while checking out");
      const auto piece = bytes.substr(begin, kPiece);
      if (auto written = file->write(static_cast<std::int64_t>(begin), piece); !written) return written;
    }
    if (bytes.size() <= kMaxLfsPointer && bytes.starts_with(kLfs)) ++result_.lfs_pointers;
    ++result_.files;
    return file->finish(program);
  }

  Outcome<void> link(const git_oid* id, const std::string& path) {
    auto size = size_of(id);
    if (!size) return tl::unexpected(size.error());
    if (*size > 4096) return failed(FailureKind::kInvalid, "is a symbolic link with a too long target");
    auto object = read(id);
    if (!object) return tl::unexpected(object.error());
    ++result_.files;
    return tree_.add_link(path, std::string(static_cast<const char*>(git_odb_object_data(object->get())),
                                            git_odb_object_size(object->get())));
  }

  git_repository* objects_;
  git_odb* odb_;
  NewTree& tree_;
  std::stop_token stop_;
  CheckedOut result_;
  std::string at_;
};

Outcome<git_oid> find_subdirectory(const git_tree* root, const std::string& commit, const std::string& path) {
  git_tree_entry* raw = nullptr;
  const int found = git_tree_entry_bypath(&raw, root, path.c_str());
  const Owned<git_tree_entry> entry(raw);
  if (found == GIT_ENOTFOUND)
    return failed(FailureKind::kNotFound, "commit " + commit + " has no directory " + path);
  if (found != 0) return git_failure(FailureKind::kUnavailable, "cannot read the tree of commit " + commit);
  if (git_tree_entry_type(raw) != GIT_OBJECT_TREE)
    return failed(FailureKind::kInvalid, "in commit " + commit + ", " + path + " is no directory");
  return *git_tree_entry_id(raw);
}

}  // namespace

Outcome<CheckedOut> check_out(git_repository* objects, const std::string& commit,
                              const std::string& subdirectory, NewTree& tree, std::stop_token stop) {
  git_oid id{};
  git_object* raw = nullptr;
  git_oid_fromstr(&id, commit.c_str());
  if (git_object_lookup(&raw, objects, &id, GIT_OBJECT_ANY) != 0) return unreadable(&id);
  const Owned<git_object> wanted(raw);
  git_object* peeled = nullptr;
  if (git_object_peel(&peeled, raw, GIT_OBJECT_COMMIT) != 0)
    return failed(FailureKind::kInvalid, commit + " is neither a commit nor a tag of one");
  const Owned<git_object> target(peeled);
  git_tree* top = nullptr;
  const auto* const tree_id = git_commit_tree_id(reinterpret_cast<git_commit*>(peeled));
  if (git_commit_tree(&top, reinterpret_cast<git_commit*>(peeled)) != 0) return unreadable(tree_id);
  const Owned<git_tree> owned_top(top);
  git_oid begin = *tree_id;
  if (!subdirectory.empty()) {
    auto found = find_subdirectory(top, commit, subdirectory);
    if (!found) return tl::unexpected(found.error());
    begin = *found;
  }
  git_odb* odb = nullptr;
  if (git_repository_odb(&odb, objects) != 0) return git_failure(FailureKind::kLocal, "cannot read the pack");
  const Owned<git_odb> owned_odb(odb);
  Checkout checkout(objects, odb, tree, std::move(stop));
  if (auto done = checkout.directory(&begin, {}); !done) {
    auto failure = done.error();
    if (failure.kind != FailureKind::kUnavailable && failure.kind != FailureKind::kStopped)
      failure.message =
          "file " + shown_of_server(checkout.at()) + " of commit " + commit + ": " + failure.message;
    return tl::unexpected(std::move(failure));
  }
  checkout.result().commit = hex(git_object_id(peeled));
  return std::move(checkout.result());
}

}  // namespace gpupool::carry
