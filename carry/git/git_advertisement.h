// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "failure/failure.h"

namespace gpupool::carry {

// Checks the answer to GET info/refs: the server must speak protocol 2, give shallow fetches and use SHA-1
// for its objects. url: for messages. kInvalid: it does not. Pure.
Outcome<void> check_advertisement(std::string_view body, const std::string& url);

tl::unexpected<Failure> speaks_no_git(const std::string& url);

}  // namespace gpupool::carry
