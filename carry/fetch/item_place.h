// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <stop_token>
#include <string>

#include "base/clock.h"
#include "files/size_budget.h"

namespace gpupool::carry {

// Where an item goes, and by when.
struct ItemPlace {
  std::size_t index = 0;  // of the item in the spec
  int root = -1;          // the work directory; not owned
  SizeBudget* budget = nullptr;
  std::string scratch;  // a directory of this item alone, on the same disk, for state and unfinished things
  std::string secrets;  // has one directory for each Secret
  std::string config_maps;
  base::SteadyTime deadline = {};
};

}  // namespace gpupool::carry
