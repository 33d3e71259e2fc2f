// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <stop_token>
#include <string>

#include "archive/unpack.h"
#include "tests/support/temporary_folder.h"

namespace gpupool::carry {

// Path: "d" of a directory, "-CONTENT" or "xCONTENT" of a file, "> TARGET" of a link. Expects the modes that
// all trees have.
using DiskTree = std::map<std::string, std::string>;
DiskTree read_disk_tree(const std::string& path);

// What the list of a tree has as its digest.
std::string digest_of(const DiskTree& tree);

// Unpacks one archive in a folder of its own.
class UnpackedHere {
 public:
  explicit UnpackedHere(std::int64_t budget = std::int64_t{1} << 30U) : budget_(budget) {}

  Outcome<Unpacked> unpack_bytes(const std::string& archive, std::stop_token stop = {});
  std::string message(const std::string& archive);  // of the failure; expects that nothing is left
  std::string path(const std::string& name) const { return folder_.path() + "/" + name; }
  DiskTree tree() const { return read_disk_tree(path("to")); }
  SizeBudget& budget() { return budget_; }
  FailureKind last_kind() const { return last_kind_; }

 private:
  test::TemporaryFolder folder_;
  SizeBudget budget_;
  FailureKind last_kind_ = FailureKind::kLocal;
};

}  // namespace gpupool::carry
