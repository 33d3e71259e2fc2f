// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "launcher/expected.h"
#include "launcher/log_push.h"
#include "launcher/options.h"

namespace gpupool::launcher {

// Takes the token for the keeper out of an environment ("NAME=value" each), so that the command does not get
// it. Empty if there is none.
std::string take_keeper_token(std::vector<std::string>& environment);

// What --keeper and its flags say. REQUIRES: options.keeper is not empty.
Expected<PushTarget> make_push_target(const Options& options, const std::string& token);

// The file with what is not sent yet.
std::string spool_file(const Options& options);

}  // namespace gpupool::launcher
