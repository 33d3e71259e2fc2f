// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <stop_token>
#include <string>

#include "failure/failure.h"
#include "files/size_budget.h"

namespace gpupool::carry {

struct Unpacked {
  std::int64_t files = 0;  // files and links
  std::int64_t bytes = 0;  // of all files; those of hard links once
  std::string digest;      // see archive/tree_digest.h
};

// Unpacks a tar or zip file, which may be compressed with gzip, bzip2, xz or zstd, into the directory `to`.
// Both paths are below the directory `root`. The directory is there whole or not at all; one that was there
// is replaced. Owners, special bits, ACLs and extended attributes are dropped. The bytes count against the
// budget as they are written. Blocks until all is done; a stop request ends it (kStopped).
//
// kInvalid: no archive, a broken or encrypted one, or one with an entry that is no file, directory or link,
// or that has a path or a target outside of `to`; the message names the entry. kTooLarge: the budget, or more
// than kMaxTreeEntries entries. Memory: little, besides what the compression wants (xz -9: 64 MiB, zstd: up
// to 128 MiB) and about 250 bytes for each entry of a zip file.
Outcome<Unpacked> unpack(int root, const std::string& archive_path, const std::string& to, SizeBudget& budget,
                         std::stop_token stop);

}  // namespace gpupool::carry
