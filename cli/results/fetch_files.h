// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "failure/failure.h"
#include "s3/context.h"
#include "s3/session.h"

namespace gpupool::results {

struct WantedFile {
  std::string key;   // of the object
  std::string path;  // below the directory
  std::int64_t bytes = 0;
  std::string sha256 = {};  // empty: not known
  std::string etag = {};    // empty: not known
};

struct FetchedFiles {
  std::int64_t files = 0;
  std::int64_t bytes = 0;
  std::int64_t kept = 0;  // of the files: these were there already
};

// Fetches the files into `directory`, which is made, 8 at a time, each whole or not at all; what an earlier
// run has begun is taken up. A file that is there with the right SHA-256 is kept. Modes are those of the
// process's umask. kMismatch: an object is not what is wanted. The first failure ends all.
//
// REQUIRES: all paths are as carry::split_path wants them; no other thread creates files.
carry::Outcome<FetchedFiles> fetch_files(carry::s3::Session& bucket, const std::vector<WantedFile>& files,
                                         const std::string& directory, const carry::s3::Context& context);

// A new file's mode by the umask. REQUIRES: no other thread creates files meanwhile.
int usual_file_mode();

}  // namespace gpupool::results
