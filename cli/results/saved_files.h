// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "failure/failure.h"

namespace gpupool::results {

struct SavedFile {
  std::string path;  // below the place
  std::int64_t bytes = 0;
  std::string sha256;
};

// The manifest.json that gpupool-carry writes when all files of a place are there.
struct SavedFiles {
  bool complete = false;
  std::string job;
  std::string ns;
  std::int64_t attempt = -1;
  std::int64_t rank = -1;
  std::vector<SavedFile> files;
};

// kInvalid for what is no such manifest, or has a path that would leave the directory. Pure.
carry::Outcome<SavedFiles> parse_saved_files(std::string_view text);

}  // namespace gpupool::results
