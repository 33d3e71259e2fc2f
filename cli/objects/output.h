// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "command/flags.h"

namespace gpupool::objects {

// The version of what -o json and -o yaml print.
inline constexpr char kOutputVersion[] = "cli.gpupool.dev/v1";

// The flag -o of a command, with those of json, yaml, wide and name that it has.
void add_output_flag(command::Flags& flags, std::string& value, const std::vector<std::string>& forms);

// The JSON text as -o asks (json or yaml), with a line break at the end.
std::string printed(std::string_view json, const std::string& output);

}  // namespace gpupool::objects
