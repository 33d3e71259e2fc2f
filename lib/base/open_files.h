// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace gpupool::base {

// Lets this process open as many files and connections at a time as its hard limit allows. Does nothing if
// the limit cannot be changed.
void allow_many_open_files();

}  // namespace gpupool::base
