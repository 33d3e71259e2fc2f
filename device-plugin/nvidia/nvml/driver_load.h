// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace gpupool::nvidia {

// A text that identifies the present load of the kernel's nvidia module and changes with every reload; empty
// if the kernel has no such module of this version. It is the inode of <sysfs>/module/nvidia, which kernfs
// does not use again.
std::string driver_load(const std::string& sysfs, const std::string& version);

}  // namespace gpupool::nvidia
