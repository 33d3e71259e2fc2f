// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <stop_token>

#include "files/size_budget.h"
#include "transfer/pace.h"

namespace gpupool::carry::s3 {

// How long and where. What it refers to must outlive it.
struct Context {
  base::SteadyTime deadline;
  std::stop_token stop = {};
  const Waiting& waiting = real_waiting();
  std::chrono::milliseconds idle{60'000};  // a connection without a byte for so long is given up
};

// Where downloads go.
struct Destination {
  int root;  // a directory; paths are below it
  SizeBudget& budget;
};

}  // namespace gpupool::carry::s3
