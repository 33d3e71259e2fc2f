// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace gpupool::net {

// Whether a text has the characters and the length of a token (RFC 6750, 2.1; at most 16 KiB). Pure.
bool is_token(std::string_view text);

// The token of an Authorization header's value, "Bearer TOKEN". Nothing if there is none. Pure.
std::optional<std::string> bearer_token(std::string_view authorization);

}  // namespace gpupool::net
