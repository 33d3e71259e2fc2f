// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "failure/failure.h"

namespace gpupool::carry {

// An absolute http or https URL without user and password.
struct Url {
  std::string text;    // to be requested: without a fragment
  std::string scheme;  // "http" or "https"
  std::string origin;  // scheme, host and port: what may get the same credentials
  std::string shown;   // for messages: without the query
};

// Returns kInvalid for anything else. The message has no part of the URL, which may hold a password. Pure.
Outcome<Url> parse_url(const std::string& text);

// The URL that the header `location` of an answer names, relative to `base`. Errors as above.
Outcome<Url> resolve_url(const Url& base, const std::string& location);

// `text` percent-encoded but for letters, digits, - . _ and ~ (RFC 3986), and for '/' if `keep_slash` is set.
std::string percent_encoded(std::string_view text, bool keep_slash);

}  // namespace gpupool::carry
