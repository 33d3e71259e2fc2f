// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace gpupool::net {

// A text without percent-encoding (RFC 3986). Nothing if an escape is not %XX. Pure.
std::optional<std::string> percent_decode(std::string_view text);

// The parameters of a query, as in "tail=10&follow=true". Of a name that comes twice the last one counts.
// Nothing if it is not well-formed. Pure.
std::optional<std::map<std::string, std::string>> read_query(std::string_view query);

// The parts of a decoded path between its slashes: "/v1/a" has "v1" and "a". Pure.
std::vector<std::string> path_parts(std::string_view path);

}  // namespace gpupool::net
