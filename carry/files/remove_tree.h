// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "failure/failure.h"

namespace gpupool::carry {

// Removes the file, link or directory `name` of `directory`, with all that a directory holds; nothing there
// is no error. Follows no link, and holds few descriptors and little memory however deep and wide the tree
// is. REQUIRES: nobody else changes the tree meanwhile.
Outcome<void> remove_tree(int directory, const std::string& name);

}  // namespace gpupool::carry
