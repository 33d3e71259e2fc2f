// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace gpupool::command {

// An error as kubectl words it, for stderr, with its line break: "Error from server (NotFound): ...", "error:
// ...".
std::string problem_text(const base::Error& error);

// A mistake on the command line: "error: ...\nSee 'kubectl gpupool list --help' for usage.\n". command may be
// empty.
std::string usage_problem(std::string_view message, std::string_view command);

}  // namespace gpupool::command
