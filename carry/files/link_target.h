// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "failure/failure.h"

namespace gpupool::carry {

enum class LinkRoute {
  kInside,   // it stays inside, whatever other links are there
  kWinding,  // it has ".." after a name: where it leads depends on whether that is a link
};

// Judges the target of a symbolic link in a directory `depth` levels below the top of a tree, which no link
// leads to. kInvalid: the target is empty, absolute, too long, has a control character or leaves the tree.
// Pure.
Outcome<LinkRoute> judge_link_target(std::string_view target, int depth);

}  // namespace gpupool::carry
