#pragma once

#include <string>

namespace gpupool::inventory {

// A name for this one loading of the kernel's nvidia module, another one after every reload; empty where the
// kernel shows no such module of this version. From the inode of <sysfs>/module/nvidia, which kernfs does not
// use again.
std::string driver_load(const std::string& sysfs, const std::string& version);

}  // namespace gpupool::inventory
