// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "failure/failure.h"

struct git_indexer;
struct git_repository;

namespace gpupool::carry {

// No object of a pack may be larger, for libgit2 holds each as a whole.
inline constexpr std::int64_t kMaxGitObject = std::int64_t{2} << 30U;

// A pack that is written to a directory as it comes, with its index. Every object's name is computed from its
// bytes. kUnavailable: what came is no whole pack; kLocal or kTooLarge: it cannot be written. Not
// thread-safe.
class PackStore {
 public:
  // directory: an empty one, for the pack alone; the caller removes it. most: bytes of the pack; more is
  // kTooLarge.
  static Outcome<PackStore> begin(const std::string& directory, std::int64_t most);
  ~PackStore();
  PackStore(PackStore&&) noexcept;
  PackStore& operator=(PackStore&&) = delete;

  Outcome<void> append(std::string_view bytes);
  // After the last byte. Then objects can be read.
  Outcome<void> finish();
  // Null before finish(). Owned by the store.
  git_repository* objects() const { return objects_.get(); }

 private:
  struct FreeIndexer {
    void operator()(git_indexer* indexer) const;
  };
  struct FreeRepository {
    void operator()(git_repository* repository) const;
  };
  PackStore(std::string directory, std::int64_t most, git_indexer* indexer);

  std::string directory_;
  std::int64_t most_;
  std::int64_t left_;
  std::unique_ptr<git_indexer, FreeIndexer> indexer_;
  std::unique_ptr<git_repository, FreeRepository> objects_;
};

}  // namespace gpupool::carry
