#pragma once

#include <string>

namespace gpupool::kube {

// The variable's value, or an empty string. Nothing of ours changes the environment once threads run.
std::string environment(const char* name);

}  // namespace gpupool::kube
