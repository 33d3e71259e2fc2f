// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "base/unique_fd.h"

namespace gpupool::kube {

struct Child {
  pid_t pid = -1;      // also its process group; the owner waits for it
  base::UniqueFd out;  // what it writes; does not block
  base::UniqueFd err;
};

// Starts a program in its own process group: stdin empty, stdout and stderr piped, default signals, no other
// descriptor of this program (all are close-on-exec). kNotFound: no such program.
base::Result<Child> spawn(const std::vector<std::string>& argv,
                          const std::vector<std::pair<std::string, std::string>>& env);

}  // namespace gpupool::kube
