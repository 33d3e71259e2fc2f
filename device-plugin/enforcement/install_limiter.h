// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "base/result.h"

namespace gpupool::enforcement {

// Copies the limiter's libraries from the folder `from` to `to`/VERSION, beside the file that preloads them,
// and makes `to`/current name this version. VERSION is a fingerprint of the libraries. Files that are there
// with the same content stay, others are replaced by renaming, so programs that have them open or mounted are
// not disturbed. Older versions stay: the kubelet mounts them again when an old container restarts. Returns
// the folder of the version. kIo and kNotFound name the path.
base::Result<std::string> install_limiter(const std::string& from, const std::string& to);

// The folder that `to`/current names: the limiter that new containers get. kNotFound: none was installed;
// kParse: the file is damaged.
base::Result<std::string> installed_limiter(const std::string& to);

}  // namespace gpupool::enforcement
