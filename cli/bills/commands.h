// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "command/command.h"

// The commands about money. Each is in the file of its name.
namespace gpupool::bills {

std::unique_ptr<command::Command> make_bill();
std::unique_ptr<command::Command> make_payout();

}  // namespace gpupool::bills
