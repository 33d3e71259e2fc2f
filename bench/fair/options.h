// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "bench/fair/workload/job.h"
#include "bench/fair/workload/trace.h"

namespace gpupool::bench::fair {

struct Options {
  std::int64_t gpus = 440;
  std::int64_t days = 30;
  std::int64_t load = 90;  // percent
  std::int64_t seed = 1;
  TraceOptions trace;  // no files: the synthetic twin
  std::vector<std::string> policies;
  Settings settings;
};

// Returns the exit code if the program has nothing to do: help was asked for, or the command line is wrong.
std::variant<Options, int> parse_options(int argc, const char* const* argv);

}  // namespace gpupool::bench::fair
