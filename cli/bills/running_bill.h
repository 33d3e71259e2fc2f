// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "base/result.h"
#include "command/command.h"

namespace gpupool::bills {

// Shows what jobs that exist have cost until now, by their statuses. output: empty (for people), json or
// yaml.
base::Result<int> show_running_bill(bool all_namespaces, const std::string& output,
                                    command::Context& context);

}  // namespace gpupool::bills
