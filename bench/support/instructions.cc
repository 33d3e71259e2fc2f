// SPDX-License-Identifier: Apache-2.0
#include "bench/support/instructions.h"

#include <valgrind/callgrind.h>

namespace gpupool::bench {

bool counting() { return RUNNING_ON_VALGRIND != 0; }

void begin_count() { CALLGRIND_START_INSTRUMENTATION; }

void end_count(const std::string& name, int times) {
  const auto label = name + " / " + std::to_string(times);
  CALLGRIND_DUMP_STATS_AT(label.c_str());
  CALLGRIND_STOP_INSTRUMENTATION;
}

}  // namespace gpupool::bench
