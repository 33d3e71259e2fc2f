// SPDX-License-Identifier: Apache-2.0
#include "git/pack_store.h"

#include <git2.h>
#include <git2/sys/odb_backend.h>
#include <git2/sys/repository.h>

#include <utility>

#include "base/heap.h"
#include "git/git_error.h"

namespace gpupool::carry {
namespace {

// Starts libgit2 once, with little memory: it maps few pages of a pack at a time and keeps no objects.
struct SmallLibGit2 {
  SmallLibGit2() {
    git_libgit2_init();
    git_libgit2_opts(GIT_OPT_SET_MWINDOW_SIZE, std::size_t{1} << 20U);
    git_libgit2_opts(GIT_OPT_SET_MWINDOW_MAPPED_LIMIT, std::size_t{4} << 20U);
    git_libgit2_opts(GIT_OPT_ENABLE_CACHING, 0);
    git_libgit2_opts(GIT_OPT_SET_PACK_MAX_OBJECTS, std::size_t{3'000'000});
    git_libgit2_opts(GIT_OPT_SET_PACK_MAX_OBJECT_SIZE, static_cast<std::size_t>(kMaxGitObject));
  }
  ~SmallLibGit2() { git_libgit2_shutdown(); }
};

struct FreeOdb {
  void operator()(git_odb* odb) const { git_odb_free(odb); }
};

}  // namespace

void PackStore::FreeIndexer::operator()(git_indexer* indexer) const { git_indexer_free(indexer); }
void PackStore::FreeRepository::operator()(git_repository* repository) const {
  git_repository_free(repository);
}

PackStore::PackStore(std::string directory, std::int64_t most, git_indexer* indexer)
    : directory_(std::move(directory)), most_(most), left_(most), indexer_(indexer) {}
PackStore::PackStore(PackStore&&) noexcept = default;
PackStore::~PackStore() = default;

Outcome<PackStore> PackStore::begin(const std::string& directory, std::int64_t most) {
  static const SmallLibGit2 started;
  // Without `verify`: a commit without its history has parents that are not there. Whoever reads the tree
  // sees what is missing.
  git_indexer* indexer = nullptr;
  if (git_indexer_new(&indexer, directory.c_str(), 0600, nullptr, nullptr) != 0)
    return git_failure(FailureKind::kLocal, "cannot begin a pack");
  return PackStore(directory, most, indexer);
}

Outcome<void> PackStore::append(std::string_view bytes) {
  left_ -= static_cast<std::int64_t>(bytes.size());
  if (left_ < 0)
    return failed(FailureKind::kTooLarge, "the pack of the git repository has more than " +
                                              std::to_string(most_) + " bytes, twice what sizeLimit leaves");
  git_indexer_progress progress{};
  if (git_indexer_append(indexer_.get(), bytes.data(), bytes.size(), &progress) != 0)
    return git_failure(FailureKind::kUnavailable, "the pack of the git repository is broken");
  return {};
}

Outcome<void> PackStore::finish() {
  git_indexer_progress progress{};
  if (git_indexer_commit(indexer_.get(), &progress) != 0)
    return git_failure(FailureKind::kUnavailable, "the pack of the git repository is broken");
  const auto index = directory_ + "/pack-" + git_indexer_name(indexer_.get()) + ".idx";
  indexer_.reset();
  base::return_free_pages();
  git_odb* raw = nullptr;
  git_odb_backend* backend = nullptr;
  if (git_odb_new(&raw) != 0) return git_failure(FailureKind::kLocal, "cannot read the pack");
  const std::unique_ptr<git_odb, FreeOdb> odb(raw);
  if (git_odb_backend_one_pack(&backend, index.c_str()) != 0)
    return git_failure(FailureKind::kLocal, "cannot read the pack");
  if (git_odb_add_backend(odb.get(), backend, 1) != 0) {
    backend->free(backend);
    return git_failure(FailureKind::kLocal, "cannot read the pack");
  }
  git_repository* repository = nullptr;
  if (git_repository_wrap_odb(&repository, odb.get()) != 0)
    return git_failure(FailureKind::kLocal, "cannot read the pack");
  objects_.reset(repository);
  return {};
}

}  // namespace gpupool::carry
