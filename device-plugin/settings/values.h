// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"
#include "settings/settings.h"

namespace gpupool::settings {

// One value from its text, as a file, a flag or the environment has it. Errors say what would be right, and
// leave the place to the caller.
base::Result<std::int64_t> to_integer(const std::string& text, std::int64_t least, std::int64_t most);
// "1.5" is 1500. More than 0, at most 100, at most 3 decimals.
base::Result<Milli> to_scaling(const std::string& text);
base::Result<bool> to_bool(const std::string& text);
base::Result<Policy> to_policy(const std::string& text);
base::Result<ErrorAction> to_error_action(const std::string& text);
base::Result<Enforce> to_enforce(const std::string& text);
base::Result<OnExcess> to_on_excess(const std::string& text);
base::Result<std::string> to_cdi_prefix(const std::string& text);
base::Result<std::string> to_directory(const std::string& text);

// Empty, or why MIG instances cannot be passed on as configured: their capability nodes
// (/dev/nvidia-caps/...) are known to the container runtime and to CDI only.
std::string mig_problem(const Settings& settings);

constexpr std::int64_t kMaxSplitCount = 100;

}  // namespace gpupool::settings
