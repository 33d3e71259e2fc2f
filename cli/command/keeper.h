// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "base/result.h"
#include "command/command.h"
#include "command/flags.h"
#include "worker_logs/kept_logs.h"

namespace gpupool::command {

// --keeper: NAMESPACE/SERVICE.
void add_keeper_flag(Flags& flags, std::string& keeper);

// The keeper, by the proxy of the API server. Nothing is sent yet. kInvalidArgument: the name is none, or the
// caller acts as somebody else (--as): the keeper would not know. REQUIRES: the context's session outlives
// it.
base::Result<logs::KeptLogs> find_keeper(const std::string& keeper, Context& context);

// What an error of the keeper means for a person. what: what is not there without it.
base::Error keeper_problem(const base::Error& error, const std::string& what);

}  // namespace gpupool::command
