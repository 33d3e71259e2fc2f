// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "api/v1alpha1/job_data.h"
#include "files/output_file.h"
#include "s3/context.h"

namespace gpupool::carry::s3 {

// Fetches the object `location.key` to the file `path`. sha256: empty if it is not checked. secret_directory:
// see read_credentials().
Outcome<WrittenFile> fetch_object(const api::S3Location& location, const std::string& secret_directory,
                                  const std::string& path, const std::string& sha256, const Destination& to,
                                  const Context& context);

struct FetchedObjects {
  std::int64_t files = 0;
  std::int64_t bytes = 0;
  std::string digest;  // SHA-256 in hex of the lines "PATH\0SHA256\n", sorted; PATH is below the destination
};

// Fetches all objects under the folder `location.prefix` to the directory `path`, 8 at a time, each as it was
// when they were listed; kMismatch if one has changed since. The listing is kept in the directory `state` for
// a process that comes after this one; a file of the right size is then complete. The first failure ends all.
Outcome<FetchedObjects> fetch_prefix(const api::S3Location& location, const std::string& secret_directory,
                                     const std::string& path, int state, const Destination& to,
                                     const Context& context);

}  // namespace gpupool::carry::s3
