// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <stop_token>
#include <string>
#include <vector>

#include "failure/failure.h"
#include "files/new_tree.h"

struct git_repository;

namespace gpupool::carry {

struct CheckedOut {
  std::string commit;  // what a tag points to, else the commit that was asked for
  std::int64_t files = 0;
  std::int64_t submodules = 0;  // they are left out
  std::string first_submodule;
  std::int64_t lfs_pointers = 0;  // files of Git LFS whose content is elsewhere
};

// Writes the tree of a commit, or of a tag of one, or a subdirectory of it, into `tree`. Objects are held as
// a whole, one at a time; their size is taken from the budget before they are read. kNotFound: no such
// subdirectory; kInvalid: no commit, or a path or link that no tree may have; kUnavailable: an object is
// missing.
Outcome<CheckedOut> check_out(git_repository* objects, const std::string& commit,
                              const std::string& subdirectory, NewTree& tree, std::stop_token stop);

}  // namespace gpupool::carry
