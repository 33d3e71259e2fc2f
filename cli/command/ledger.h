// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "base/result.h"
#include "command/command.h"
#include "command/flags.h"

namespace gpupool::command {

// --ledger: NAMESPACE/SERVICE.
void add_ledger_flag(Flags& flags, std::string& ledger);

// What comes before the paths of gpupool-ledger, as of service_prefix().
base::Result<std::string> ledger_prefix(const std::string& ledger, const Context& context);

// Whether the API server says that there is no such Service, or that the caller may not reach it.
bool no_way_to_ledger(const base::Error& error);

}  // namespace gpupool::command
