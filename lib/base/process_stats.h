// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace gpupool::base {

// Figures of this process from /proc. A figure that cannot be read is 0.
struct ProcessStats {
  double cpu_seconds = 0;
  double resident_bytes = 0;
  double virtual_bytes = 0;
  double start_time_seconds = 0;  // since 1970
  double open_fds = 0;
  double max_fds = 0;
};

ProcessStats read_process_stats();

}  // namespace gpupool::base
