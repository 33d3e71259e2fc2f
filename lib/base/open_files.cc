// SPDX-License-Identifier: Apache-2.0
#include "base/open_files.h"

#include <sys/resource.h>

namespace gpupool::base {

void allow_many_open_files() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  limit.rlim_cur = limit.rlim_max;
  ::setrlimit(RLIMIT_NOFILE, &limit);
}

}  // namespace gpupool::base
