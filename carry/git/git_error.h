// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "failure/failure.h"

namespace gpupool::carry {

// Text of a server for a message: at most 200 bytes, without control characters and line ends. Pure.
std::string shown_of_server(std::string_view text);

// The failure of libgit2's last call on this thread: kTooLarge for a full disk, kLocal for another error of
// the system, else `kind`. what: "cannot read the pack".
tl::unexpected<Failure> git_failure(FailureKind kind, const std::string& what);

}  // namespace gpupool::carry
